"""The one place that computes: pixels in, feature maps and pooled features out.

Importing this module imports torch and timm, which takes seconds; only `registry.load` does.
"""

import logging
from functools import cache
from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from engine.network.architectures import create
from engine.network.device import DeviceOutOfMemory
from engine.network.inference import for_inference
from engine.network.layers import FeatureMap, keep_what_leads_to
from engine.network.manifest import NetworkManifest
from engine.network.pooling import gem
from engine.network.weights import fill, read, renamed_in_order
from engine.types import FloatArray, PixelArray

_log = logging.getLogger(__name__)

# Relative to the largest value of the map; folding agrees to a hundredth of it.
_SAME = 1e-3
_CPU_ALLOCATOR = "DefaultCPUAllocator"


class Backbone:
    """A module on a device, with the preprocessing and pooling of its manifest.

    Not thread-safe; the caller holds the gate.
    """

    def __init__(self, module: nn.Module, manifest: NetworkManifest, *, device: str) -> None:
        self._device = torch.device(device)
        self._manifest = manifest
        self._module = module.eval().to(self._device).to(memory_format=torch.channels_last)
        shape = (1, 3, 1, 1)
        self._mean = torch.tensor(manifest.mean, device=self._device).view(shape)
        self._scale = 1 / torch.tensor(manifest.std, device=self._device).view(shape)

    def pooled(self, images: PixelArray, weights: FloatArray) -> FloatArray:
        """(B, R, C) pooled values of each part that a row of weights describes; of unit length
        unless the network has a head.

        Args:
            images: (B, H, W, 3) upright sRGB.
            weights: (R, h·w) see `engine.features.grid.mean_weights`.

        Raises:
            DeviceOutOfMemory: nothing was computed; a smaller batch may fit.
        """
        how = self._manifest
        try:
            with torch.inference_mode():
                parts = torch.tensor(weights, device=self._device)
                pooled = gem(
                    self._maps(images), parts, p=how.gem_p, eps=how.gem_eps, unit=not how.headed
                )
                return cast(FloatArray, pooled.cpu().numpy())
        except (RuntimeError, MemoryError) as error:
            reason = lack_of_memory(error)
            if reason is None:
                raise
        raise DeviceOutOfMemory(reason)

    def feature_maps(self, images: PixelArray) -> FloatArray:
        """(B, C, h, w) of images (B, H, W, 3). Raises as `pooled` does."""
        try:
            with torch.inference_mode():
                return cast(FloatArray, self._maps(images).contiguous().cpu().numpy())
        except (RuntimeError, MemoryError) as error:
            reason = lack_of_memory(error)
            if reason is None:
                raise
        raise DeviceOutOfMemory(reason)

    def _maps(self, images: PixelArray) -> Tensor:
        # Rows of pixels with their colours side by side are channels_last as they are.
        pixels = torch.from_numpy(images).to(self._device).permute(0, 3, 1, 2)
        return cast(Tensor, self._module((pixels - self._mean) * self._scale))


def lack_of_memory(error: RuntimeError | MemoryError) -> str | None:
    """The error's first line if it says that memory ran out; other errors are no business of
    ours. On a CPU torch has no type for it."""
    text = str(error) or "out of memory"
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)) or _CPU_ALLOCATOR in text:
        return text.splitlines()[0]
    return None


def use_threads(count: int | None) -> None:
    """How many threads share one operation on the CPU; None: all cores but one, and at least two.

    One core stays free for decoding and the window where that costs little; of two cores the
    scheduler makes more than we would: 93 ms a photo with both against 140 ms with one, while
    another process decodes.
    """
    cores = _threads_at_start()
    torch.set_num_threads(count or max(min(2, cores), cores - 1))


@cache
def _threads_at_start() -> int:
    return torch.get_num_threads()


def build(manifest: NetworkManifest, weights: Path, *, quick: bool = False) -> FeatureMap:
    """The module whose output is the feature map, with its weights from a file. Only what leads
    to the layer is there.

    Args:
        quick: rebuilt for inference, if that gives the same numbers.

    Raises:
        NetworkError: the file does not fit the architecture, or there is no such layer.
    """
    module = _filled(manifest, weights)
    if not quick:
        return module
    quicker = _quicker(module)
    if quicker is not None:
        return quicker
    _log.warning("%s stays as it is: rebuilt it gives other numbers", manifest.name)
    return _filled(manifest, weights)


def _filled(manifest: NetworkManifest, weights: Path) -> FeatureMap:
    model = create(manifest.library, manifest.backbone).model
    whole = model.state_dict()
    about = {"file": weights.name, "backbone": manifest.backbone}
    given = read(weights)
    if manifest.weights.foreign:
        given = renamed_in_order(given, whole, **about)
    keep_what_leads_to(model, manifest.layer)
    fill(model, given, names=set(whole), **about)
    return FeatureMap(model.eval(), manifest.layer)


def _quicker(module: FeatureMap) -> FeatureMap | None:
    """The module rebuilt for inference, and itself no longer of use; None if it then gives other
    numbers, which happens where a norm does not follow the convolution that is registered before
    it."""
    random = torch.Generator().manual_seed(0)
    pictures = torch.randn(1, 3, 160, 128, generator=random)
    with torch.no_grad():  # in inference mode the folded weights could not be used outside it
        expected = module(pictures)
        rebuilt = FeatureMap(for_inference(module.release(), keep=module.layer), module.layer)
        difference = (rebuilt(pictures) - expected).abs().max()
    return rebuilt if difference <= _SAME * expected.abs().max() else None
