"""Networks without their weights, from torchvision and timm. Reaches no hub. Imports torch."""

import difflib
from dataclasses import dataclass
from typing import Final, cast

import timm
import torch
import torchvision
from torch import nn

from engine.errors import NetworkError

Colours = tuple[float, float, float]

_IMAGENET_MEAN: Final = (0.485, 0.456, 0.406)
_IMAGENET_STD: Final = (0.229, 0.224, 0.225)

# GoogLeNet's weights were trained on another scale of the input, which it makes itself; and its
# own initial values would take half a minute. Auxiliary heads: the files have them.
_TORCHVISION_OPTIONS: Final = {
    "googlenet": {"transform_input": True, "aux_logits": True, "init_weights": False}
}


@dataclass(frozen=True, slots=True)
class Bare:
    """A network whose weights are still to come, and the ``mean`` and ``std`` of the scale 0..255
    that its library trains it with. torchvision's lie on torch's device "meta", without values."""

    model: nn.Module
    mean: Colours
    std: Colours


def create(library: str, backbone: str) -> Bare:
    """The network of this name in "timm" or "torchvision".

    Raises:
        NetworkError: the library has none.
    """
    return _from_timm(backbone) if library == "timm" else _from_torchvision(backbone)


def _from_torchvision(backbone: str) -> Bare:
    with torch.device("meta"):
        model = torchvision.models.get_model(
            backbone, weights=None, **_TORCHVISION_OPTIONS.get(backbone, {})
        )
    return Bare(model.eval(), _of_bytes(_IMAGENET_MEAN), _of_bytes(_IMAGENET_STD))


def _from_timm(backbone: str) -> Bare:
    if not timm.is_model(backbone):  # nor anything that timm would ask a hub for
        near = difflib.get_close_matches(backbone, timm.list_models(), n=5, cutoff=0.4)
        raise NetworkError(f"timm has no network {backbone!r}; the nearest: {', '.join(near)}")
    try:
        # With pretrained=True timm would look for a hub on the internet.
        model: nn.Module = timm.create_model(backbone, pretrained=False)
    except (RuntimeError, ValueError) as error:
        raise NetworkError(f"timm cannot make {backbone!r}: {error}") from error
    config = cast(dict[str, Colours], model.pretrained_cfg)
    return Bare(model.eval(), _of_bytes(config["mean"]), _of_bytes(config["std"]))


def _of_bytes(values: Colours) -> Colours:
    red, green, blue = values
    return 255 * red, 255 * green, 255 * blue
