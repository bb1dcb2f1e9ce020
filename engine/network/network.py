"""The network as the rest of the engine sees it: photos in, features out, whatever happens."""

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from PIL import Image

from engine.config import Aggregation, FeatureSettings, Pooling
from engine.errors import DeviceError
from engine.features.aggregation import aggregate
from engine.features.grid import CellArray, boxes_of, mean_weights, ospp
from engine.features.head import Head, through
from engine.features.pooling import pool, unit_rows
from engine.features.scheme import base_regions, pooling_of, squares_of
from engine.network.device import DeviceChoice, DeviceOutOfMemory
from engine.network.gate import ForwardGate
from engine.network.manifest import NetworkManifest, network_key
from engine.types import FloatArray, PixelArray

_log = logging.getLogger(__name__)

# Pixels of one mini-batch. On a CPU larger batches are no faster, and a search waits for one.
BATCH_PIXELS = {"cpu": 1 * 768 * 768, "cuda": 32 * 768 * 768}


@dataclass(frozen=True, slots=True, eq=False)
class PhotoFeatures:
    """What one forward pass tells of a photo.

    ``descriptor``: (D,) float32 of unit length. ``regions``: (R, D) float32, rows of unit length.
    ``boxes``: (R, 4) float32 x0, y0, x1, y1 as fractions of the upright photo.
    """

    descriptor: FloatArray
    regions: FloatArray
    boxes: FloatArray


class Computes(Protocol):
    """What computes: engine.network.backbone.Backbone, which only a loaded network imports."""

    def pooled(self, images: PixelArray, weights: FloatArray) -> FloatArray:
        """Of unit length unless the manifest has a head, which is the caller's to apply."""

    def feature_maps(self, images: PixelArray) -> FloatArray: ...


class Network:
    """A loaded network. Thread-safe: a gate gives one thread at a time the device.

    When the device runs out of memory the mini-batch is halved, and when a single photo is still
    too much the CPU takes over for good; no photo is skipped, and ``notes`` says so once.

    Photos are upright sRGB pixels (H, W, 3) uint8. A side shorter than the network can take is
    filled up to that by repeating the outermost pixels.
    """

    def __init__(
        self,
        manifest: NetworkManifest,
        backbone: Computes,
        *,
        features: FeatureSettings,
        device: DeviceChoice,
        on_cpu: Callable[[], Computes] | None = None,
        centre: FloatArray | None = None,
        head: Head | None = None,
    ) -> None:
        """``on_cpu`` makes the backbone that takes over; None where it runs on the CPU already.
        ``centre``: (D,) the mean of usual base regions. ``head``: the manifest's."""
        self._manifest = manifest
        self._features = features
        self._backbone = backbone
        self._device = device
        self._on_cpu = on_cpu
        self._centre = centre
        self._head = head
        self._batch_pixels = BATCH_PIXELS[device.kind]
        self._gate = ForwardGate()
        self._notes: list[str] = []

    @property
    def manifest(self) -> NetworkManifest:
        return self._manifest

    @property
    def centre(self) -> FloatArray | None:
        """(D,) the mean of usual base regions, for methods that compare without it."""
        return self._centre

    @property
    def head(self) -> Head | None:
        """What follows the pooling of a region, or None: nothing but L2."""
        return self._head

    @property
    def key(self) -> str:
        """The name for the numbers that it makes; see `network_key`."""
        return network_key(self._manifest, self._features)

    @property
    def dim(self) -> int:
        """D, the length of descriptors and region vectors."""
        return self._manifest.descriptor_dim

    @property
    def device(self) -> DeviceChoice:
        """The device that the next pass runs on, and why."""
        return self._device

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of how it went; each thing once."""
        return tuple(self._notes)

    def extract(self, images: Sequence[PixelArray]) -> list[PhotoFeatures]:
        """Features of photos, in their order. Photos of one shape share mini-batches.

        Raises:
            DeviceError: not even one photo at a time fits into the machine's memory.
        """
        by_shape: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, image in enumerate(images):
            by_shape[image.shape].append(index)
        found: dict[int, PhotoFeatures] = {}
        for indices in by_shape.values():
            photos = [images[index] for index in indices]
            found.update(zip(indices, self._extract_equal(photos), strict=True))
        scales = self._features.photo_scales
        if scales == (1.0,):
            return [found[index] for index in range(len(images))]
        return [
            replace(found[index], descriptor=self._at_scales(image, scales))
            for index, image in enumerate(images)
        ]

    def descriptor(self, image: PixelArray) -> FloatArray:
        """(D,) float32 of unit length. Takes its turn before any batch."""
        return self.look(image, ())[0]

    def gem(self, image: PixelArray) -> FloatArray:
        """(D,) float32 of unit length: the generalised mean, whichever aggregation is asked for.
        Takes its turn before any batch."""
        batch = self._padded([image])
        h, w = self._cells(batch)
        pooled = self._pooled(batch, _means(_whole(h, w), h, w), interactive=True)
        return cast(FloatArray, pooled[0, 0])

    def look(self, image: PixelArray, levels: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        """A query in one pass, which takes its turn before any batch.

        Returns:
            (D,) the descriptor as `descriptor` gives it; and (P, D) unit rows, pooled as base
            regions are: squares of these levels of the pyramid over the picture, or without a
            level the whole of it.
        """
        batch = self._padded([image])
        h, w = self._cells(batch)
        if self._all_gem:
            squares = [ospp(h, w, levels)] if levels else []
            weights = _means(np.concatenate([_whole(h, w), *squares]), h, w)
            pooled = self._pooled(batch, weights, interactive=True)[0]
            return pooled[0], pooled[1:] if levels else pooled
        cells = ospp(h, w, levels) if levels else _whole(h, w)
        how = self._manifest
        feature_map = self.feature_map(image)
        unit = self._head is None
        pooling = pooling_of(self._features)
        parts = pool(feature_map, cells, pooling, p=how.gem_p, eps=how.gem_eps, unit=unit)
        return self._aggregated(feature_map), through(self._head, parts)

    def feature_map(self, image: PixelArray) -> FloatArray:
        """(C, h, w) float32, not negative where the layer ends with a ReLU; pooling raises what
        is below its ``gem_eps`` to that. Takes its turn before any batch."""
        batch = self._padded([image])
        while True:
            with self._gate.turn(interactive=True):
                try:
                    return cast(FloatArray, self._backbone.feature_maps(batch)[0])
                except DeviceOutOfMemory as lack:
                    self._make_room(1, 1, lack)

    def _extract_equal(self, photos: list[PixelArray]) -> list[PhotoFeatures]:
        batch = self._padded(photos)
        h, w = self._cells(batch)
        cells = squares_of(self._features, h, w)
        if cells is None or not self._all_gem:
            return [self._extract_slowly(photo) for photo in photos]
        weights = _means(np.concatenate([_whole(h, w), cells]), h, w)
        boxes = boxes_of(cells, h=h, w=w)
        pooled = self._pooled(batch, weights, interactive=False)
        return [PhotoFeatures(parts[0], parts[1:], boxes) for parts in pooled]

    def _extract_slowly(self, photo: PixelArray) -> PhotoFeatures:
        """Regions that one product with the powers of the map does not give."""
        how = self._manifest
        feature_map = self.feature_map(photo)
        p, eps, head = how.gem_p, how.gem_eps, self._head
        found = base_regions(feature_map, self._features, p=p, eps=eps, head=head)
        return PhotoFeatures(self._aggregated(feature_map), found.features, found.boxes)

    def _at_scales(self, photo: PixelArray, scales: Sequence[float]) -> FloatArray:
        """(D,) the mean of the descriptors that a photo has at these sizes."""
        seen = [self.look(_resized(photo, scale), ())[0] for scale in scales]
        return unit_rows(np.sum(seen, axis=0))

    def _aggregated(self, feature_map: FloatArray) -> FloatArray:
        """(D,) the descriptor of a map, through the head."""
        how, head, aggregation = self._manifest, self._head, self._features.aggregation
        p, eps = how.gem_p, how.gem_eps
        if aggregation is Aggregation.GEM:
            cells = _whole(*feature_map.shape[1:])
            whole = pool(feature_map, cells, Pooling.GEM, p=p, eps=eps, unit=head is None)
            only: FloatArray = through(head, whole)[0]
            return only
        whitening = None if head is None else head.whitening
        found: FloatArray = aggregate(feature_map, aggregation, p=p, eps=eps, whitening=whitening)
        return found

    @property
    def _all_gem(self) -> bool:
        """Whether one product with the powers of the map gives all that is asked for."""
        gem = self._features.aggregation is Aggregation.GEM
        return gem and pooling_of(self._features) is Pooling.GEM

    def _pooled(self, images: PixelArray, weights: FloatArray, *, interactive: bool) -> FloatArray:
        parts: list[FloatArray] = []
        done = 0
        pixels = images.shape[1] * images.shape[2]
        while done < len(images):
            with self._gate.turn(interactive=interactive):
                count = max(1, min(self._batch_pixels // pixels, len(images) - done))
                try:
                    parts.append(self._backbone.pooled(images[done : done + count], weights))
                except DeviceOutOfMemory as lack:
                    self._make_room(count, pixels, lack)
                else:
                    done += count
        return through(self._head, np.concatenate(parts))

    def _make_room(self, count: int, pixels: int, lack: DeviceOutOfMemory) -> None:
        """Called with the turn held: smaller batches, else the CPU, else the end."""
        if count > 1:
            self._batch_pixels = count // 2 * pixels
            self._note("The device ran out of memory: photos now pass in smaller batches.")
        elif self._on_cpu is not None:
            self._backbone, self._on_cpu = self._on_cpu(), None
            self._batch_pixels = BATCH_PIXELS["cpu"]
            self._device = DeviceChoice("cpu", "CPU: the graphics card ran out of memory")
            self._note("The graphics card ran out of memory: the CPU has taken over.")
        else:
            raise DeviceError(f"too little memory for one photo of {pixels} pixels: {lack}")

    def _note(self, text: str) -> None:
        if text not in self._notes:
            _log.warning(text)
            self._notes.append(text)

    def _padded(self, photos: list[PixelArray]) -> PixelArray:
        """(B, H, W, 3), H and W at least the network's smallest."""
        for photo in photos:
            if photo.ndim != 3 or photo.shape[2] != 3 or photo.dtype != np.uint8 or not photo.size:
                raise ValueError(f"no photo: {photo.dtype} {photo.shape}, not uint8 (H, W, 3)")
        batch = np.stack(photos)
        lacking = [max(0, self._manifest.smallest_px - side) for side in batch.shape[1:3]]
        if any(lacking):
            fill = ((0, 0), (0, lacking[0]), (0, lacking[1]), (0, 0))
            batch = np.pad(batch, fill, mode="edge")
        return batch

    def _cells(self, batch: PixelArray) -> tuple[int, int]:
        return self._manifest.cells(batch.shape[1], batch.shape[2])


def _resized(photo: PixelArray, scale: float) -> PixelArray:
    """Reduced as photos are."""
    rows, columns = (max(1, round(side * scale)) for side in photo.shape[:2])
    if (rows, columns) == photo.shape[:2]:
        return photo
    smaller = Image.fromarray(photo).resize((columns, rows), Image.Resampling.BICUBIC)
    return np.asarray(smaller)


def _whole(h: int, w: int) -> CellArray:
    return np.array([[0, 0, w, h]], dtype=np.int32)


def _means(cells: CellArray, h: int, w: int) -> FloatArray:
    return mean_weights(cells, h=h, w=w)
