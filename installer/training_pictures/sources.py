"""Which files may be used: clip art of Debian's openclipart-png, half of the groceries."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from installer.sample.mesh import FloatArray
from installer.training_pictures.warp import cropped

LEFT_OUT = frozenset({"firewall_denco_01", "8port_switch_denco"})  # not surely public domain
ART_PX = 320  # longest side of a clip art in memory

_MOST_PIXELS = 30_000_000  # larger files are left unopened: the largest would need 2.5 GB
_LEAST_PX = 150
_SHARES = (0.1, 0.97)  # of its box that a clip art covers: neither lines only nor a full sheet
_PLAINEST = 0.9  # share of the commonest colour from which on a clip art is a single-coloured shape
_SIDE = 12
_NEAREST = 0.085  # root mean square below which two descriptors show the same picture
_UNREADABLE = (  # Pillow's words for broken and for huge files
    OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning,
)  # fmt: skip
_log = logging.getLogger(__name__)


def clip_arts(folder: Path) -> list[Path]:
    """The PNG files of the package, without links and what is left out, sorted."""
    return sorted(
        path
        for path in folder.rglob("*.png")
        if not path.is_symlink() and path.stem not in LEFT_OUT and path.is_file()
    )


def products(folder: Path) -> list[Path]:
    """The alphabetically first half of the groceries' folders (rounded down); the other half is
    kept for measuring and never listed."""
    every = sorted(path for path in folder.iterdir() if path.is_dir())
    return every[: len(every) // 2]


def art(path: Path) -> Image.Image | None:
    """The clip art as RGBA, its clear borders cut off, at most ART_PX long; None if it is not fit
    for a thing: opaque, small, huge, nearly blank, or of one colour."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(path)
        with opened:
            width, height = opened.size
            if max(width, height) < _LEAST_PX or width * height > _MOST_PIXELS:
                return None
            if opened.mode not in ("RGBA", "LA") and "transparency" not in opened.info:
                return None
            whole = opened.convert("RGBA")
    except _UNREADABLE as reason:
        _log.warning("%s: %s", path.name, reason)
        return None
    finer = max(whole.size) // (2 * ART_PX)
    picture = cropped(whole.reduce(finer) if finer > 1 else whole)
    if max(picture.size) < _LEAST_PX * 0.8 or min(picture.size) < 40:
        return None
    picture.thumbnail((ART_PX, ART_PX), Image.Resampling.LANCZOS)
    return picture if _telling(np.asarray(picture)) else None


def _telling(pixels: NDArray[np.uint8]) -> bool:
    inside = pixels[..., 3] > 128
    if not _SHARES[0] <= inside.mean() <= _SHARES[1]:
        return False
    colours = (pixels[inside][:, :3] // 32).astype(np.int64) @ np.array([64, 8, 1])
    return bool(np.bincount(colours).max() < _PLAINEST * len(colours))


def descriptor(picture: Image.Image) -> FloatArray:
    """What a small blurred copy shows (d,): alpha, and colour on mid-grey."""
    small = np.asarray(picture.resize((_SIDE, _SIDE), Image.Resampling.BOX), dtype=np.float32) / 255
    alpha = small[..., 3:]
    return np.concatenate([(small[..., :3] - 0.5) * alpha, alpha * 0.5], axis=2).ravel()


class Distinct:
    """Takes pictures one after the other and says which are not yet there, nor their mirror."""

    def __init__(self) -> None:
        self._seen: list[FloatArray] = []

    def new(self, picture: Image.Image) -> bool:
        """True, and remembered, where no earlier picture is like it."""
        mirrored = descriptor(picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        here = descriptor(picture)
        if self._seen:
            rows = np.stack(self._seen)
            both = np.minimum(((rows - here) ** 2).mean(1), ((rows - mirrored) ** 2).mean(1))
            if both.min() < _NEAREST**2:
                return False
        self._seen.append(here)
        return True


def distinct_arts(paths: Sequence[Path]) -> Iterator[tuple[Path, Image.Image]]:
    """The clip arts among ``paths`` that are fit for things and unlike those before them."""
    known = Distinct()
    for path in paths:
        picture = art(path)
        if picture is not None and known.new(picture):
            yield path, picture
