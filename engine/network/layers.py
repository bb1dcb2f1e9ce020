"""A model as far as one of its layers, and what its feature map is like.

A layer is a module of the model, by its dotted name ("features.35", "layer4.1"): its output is the
feature map. A forward hook on it ends the pass there. torchvision's `create_feature_extractor`
would name places between modules too, but it traces the model into a graph, which fails where the
code of a network branches on its input, as that of many in timm does; a hook takes any.
"""

import copy
import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NoReturn, cast

import torch
from torch import Tensor, nn

from engine.errors import NetworkError

# The end of timm's forward_features, a place inside no module: what comes before the pooling of
# its classifier. The second is how the shipped network's manifest has always said it.
FORWARD_FEATURES: Final = "forward_features"
_ENDS: Final = (FORWARD_FEATURES, "conv_head, bn2, ReLU6")

_PROBE_PX: Final = 512


class _Reached(Exception):
    """No error: the way out of a pass."""

    def __init__(self, output: Tensor) -> None:
        super().__init__()
        self.output = output


def _end_the_pass(_module: nn.Module, _inputs: object, output: Tensor) -> NoReturn:
    raise _Reached(output)


class FeatureMap(nn.Module):
    """(B, 3, H, W) in, the output of a layer out; what comes after it is not computed."""

    def __init__(self, model: nn.Module, layer: str) -> None:
        super().__init__()
        self.model = model
        self.layer = layer
        self._hook = None
        if layer not in _ENDS:
            self._hook = part(model, layer).register_forward_hook(_end_the_pass)

    def forward(self, images: Tensor) -> Tensor:
        if self._hook is None:
            return cast(Callable[[Tensor], Tensor], self.model.forward_features)(images)
        try:
            self.model(images)
        except _Reached as reached:
            return reached.output
        raise NetworkError(f"{self.layer!r} has no part in a pass of the network")

    def release(self) -> nn.Module:
        """The model, whose passes go to their end again."""
        if self._hook is not None:
            self._hook.remove()
        return self.model


def part(model: nn.Module, layer: str) -> nn.Module:
    """The module of this name.

    Raises:
        NetworkError: there is none; the reason lists the nearest names.
    """
    parts: dict[str, nn.Module] = dict(model.named_modules())
    if layer and layer in parts:
        return parts[layer]
    near = difflib.get_close_matches(layer, parts, n=5, cutoff=0.3)
    if not near:
        near = [name for name, _ in model.named_children()]
    raise NetworkError(f"there is no layer {layer!r}; the nearest names: {', '.join(near)}")


def without_values(module: nn.Module) -> nn.Module:
    """A copy that tells shapes and computes nothing (torch's device "meta"); costs no memory."""
    known = {id(value): value.to("meta") for value in module.buffers()}
    for value in module.parameters():
        known[id(value)] = nn.Parameter(value.to("meta"), requires_grad=False)
    copied: nn.Module = copy.deepcopy(module, known)
    return copied


def keep_what_leads_to(model: nn.Module, layer: str) -> None:
    """Put nothing in the place of what a pass as far as this layer never enters: a classifier, the
    layers behind. It then needs neither weights nor memory. Changes ``model`` itself."""
    shapes = FeatureMap(without_values(model), layer)
    entered: set[str] = set()
    for name, module in shapes.model.named_modules():
        module.register_forward_pre_hook(lambda _module, _inputs, name=name: entered.add(name))
    _output(shapes, _PROBE_PX, _PROBE_PX)
    # Only beside the way to the layer: elsewhere a module that nobody calls may be one whose
    # weights are used by hand.
    way = [] if layer in _ENDS else layer.split(".")[:-1]
    for depth in range(len(way) + 1):
        above = ".".join(way[:depth])
        parent = model.get_submodule(above)
        for name, child in parent.named_children():
            path = f"{above}.{name}" if above else name
            inside = (f"{path}.{below}" if below else path for below, _ in child.named_modules())
            if entered.isdisjoint(inside):
                setattr(parent, name, nn.Identity())


@dataclass(frozen=True, slots=True)
class MapShape:
    """What a layer's feature map is like; the fields are those of `NetworkManifest`."""

    dim: int
    stride: int
    offset: int
    smallest_px: int


def survey(model: nn.Module, layer: str) -> MapShape:
    """Measure a layer's feature map, by passes that tell shapes alone.

    Each convolution and pooling makes of n cells floor((n + a) / s) or ceil((n + a) / s), and a
    chain of those is one floor((n + offset) / stride): two numbers tell the size of every map.

    Raises:
        NetworkError: the layer is unknown, is used more than once in a pass or gives no feature
            map of a regular grid, or the network takes photos of one size only.
    """
    shapes = without_values(model).eval()
    if layer not in _ENDS:
        _demand_one_call(shapes, layer)
    known = _Sides(FeatureMap(shapes, layer))
    dim, first, second = known.output(_PROBE_PX, 2 * _PROBE_PX)
    stride, rest = divmod(_PROBE_PX, max(second - first, 1))
    if rest or second <= first:
        raise NetworkError(f"the output of {layer!r} is no grid over the photo")
    # The first length that has one cell more than the probe's.
    longer = _first(lambda side: known.cells(side) > first, _PROBE_PX + 1, _PROBE_PX + stride)
    offset = (first + 1) * stride - longer

    def fits(side: int) -> bool:
        return 0 < known.cells(side) == (side + offset) // stride

    smallest = stride if fits(stride) else _first(fits, stride + 1, _PROBE_PX)
    if not all(map(fits, (smallest + 1, 2 * smallest, _PROBE_PX - 1, _PROBE_PX + stride // 2))):
        raise NetworkError(f"the output of {layer!r} is no regular grid over the photo")
    return MapShape(dim, stride, offset, smallest)


def _demand_one_call(model: nn.Module, layer: str) -> None:
    calls: list[nn.Module] = []
    hook = part(model, layer).register_forward_pre_hook(lambda own, _inputs: calls.append(own))
    _output(model, _PROBE_PX, _PROBE_PX)
    hook.remove()
    if (count := len(calls)) != 1:
        raise NetworkError(
            f"{layer!r} is used {count} times in a pass: name the block round it"
            if count
            else f"{layer!r} has no part in a pass of the network"
        )


class _Sides:
    """Sizes of a layer's feature map, by the length of a side of the photo."""

    def __init__(self, shapes: FeatureMap) -> None:
        self._shapes = shapes

    def output(self, height: int, width: int) -> tuple[int, int, int]:
        """Channels, rows, columns."""
        given = _output(self._shapes, height, width)
        if not isinstance(given, Tensor) or given.ndim != 4:
            what = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
            raise NetworkError(
                f"the output of {self._shapes.layer!r} is no feature map "
                f"(photos, channels, rows, columns) but {what}"
            )
        return given.shape[1], given.shape[2], given.shape[3]

    def cells(self, side: int) -> int:
        """Cells along a side; 0 where the network cannot take it."""
        try:
            _, rows, columns = self.output(side, side)
        except NetworkError:
            return 0
        return rows if rows == columns else 0


def _output(module: nn.Module, height: int, width: int) -> object:
    images = torch.empty(1, 3, height, width, device="meta")
    try:
        with torch.inference_mode():
            return module.eval()(images)
    except (RuntimeError, ValueError, AssertionError, IndexError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        size = f"{width} × {height}"
        raise NetworkError(f"the network cannot take photos of {size} pixels: {reason}") from error


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least number in low..high from which on it holds; ``high`` if for none before."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
