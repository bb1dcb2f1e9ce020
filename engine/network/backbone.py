"""The one place that computes: pixels in, feature maps and pooled features out.

Importing this module imports torch and timm, which takes seconds; only `registry.load` does.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

import timm
import torch
from torch import Tensor, nn

from engine.errors import NetworkError
from engine.network.device import DeviceOutOfMemory
from engine.network.manifest import NetworkManifest
from engine.network.pooling import gem
from engine.types import FloatArray, PixelArray

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
        """(B, R, D) features of unit length: of each part that a row of weights describes.

        Args:
            images: (B, H, W, 3) upright sRGB.
            weights: (R, h·w) see `engine.features.grid.pooling_weights`.

        Raises:
            DeviceOutOfMemory: nothing was computed; a smaller batch may fit.
        """
        how = self._manifest
        try:
            with torch.inference_mode():
                parts = torch.tensor(weights, device=self._device)
                pooled = gem(self._maps(images), parts, p=how.gem_p, eps=how.gem_eps)
                return cast(FloatArray, pooled.cpu().numpy())
        except (RuntimeError, MemoryError) as error:
            reason = self._lack_of_memory(error)
            if reason is None:
                raise
        raise DeviceOutOfMemory(reason)

    def feature_maps(self, images: PixelArray) -> FloatArray:
        """(B, C, h, w) of images (B, H, W, 3). Raises as `pooled` does."""
        try:
            with torch.inference_mode():
                return cast(FloatArray, self._maps(images).contiguous().cpu().numpy())
        except (RuntimeError, MemoryError) as error:
            reason = self._lack_of_memory(error)
            if reason is None:
                raise
        raise DeviceOutOfMemory(reason)

    def _maps(self, images: PixelArray) -> Tensor:
        # Rows of pixels with their colours side by side are channels_last as they are.
        pixels = torch.from_numpy(images).to(self._device).permute(0, 3, 1, 2)
        return cast(Tensor, self._module((pixels - self._mean) * self._scale))

    def _lack_of_memory(self, error: RuntimeError | MemoryError) -> str | None:
        """The error's first line if it says that memory ran out; other errors are no business
        of ours. On a CPU torch has no type for it."""
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


def build(manifest: NetworkManifest, weights: Path) -> nn.Module:
    """The module whose output is the feature map, with its weights from a file.

    The file names its tensors otherwise than timm does but holds the same ones in the same
    order; each is checked for its shape.

    Raises:
        NetworkError: the file does not fit the architecture.
    """
    # With pretrained=True timm would look for a hub on the internet.
    model = timm.create_model(manifest.backbone, pretrained=False)
    own = model.state_dict()
    given = torch.load(weights, map_location="cpu", weights_only=True)
    if len(given) != len(own):
        raise NetworkError(
            f"{weights.name} holds {len(given)} tensors, {manifest.backbone} has {len(own)}"
        )
    for (name, tensor), (other, theirs) in zip(own.items(), given.items(), strict=True):
        if tensor.shape != theirs.shape:
            raise NetworkError(
                f"{weights.name}: {other} is {tuple(theirs.shape)}, "
                f"but {name} of {manifest.backbone} is {tuple(tensor.shape)}"
            )
    model.load_state_dict(dict(zip(own, given.values(), strict=True)))
    return _FeatureMap(model)


class _FeatureMap(nn.Module):
    """timm's forward_features as the module's own forward, so that hooks and devices apply."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        forward_features = cast(Callable[[Tensor], Tensor], self.model.forward_features)
        return forward_features(images)
