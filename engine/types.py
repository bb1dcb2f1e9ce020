"""The words that cross the engine's border: what requests and answers are made of.

Everything here is immutable. One coordinate frame: pixels of the *upright* photo, x to the right,
y down, origin at its top left corner.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import BoxError

FloatArray = NDArray[np.float32]
HalfArray = NDArray[np.float16]
PixelArray = NDArray[np.uint8]


# --- geometry -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels, upright."""

    w: int
    h: int


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels of the upright photo."""

    x: float
    y: float
    w: float
    h: float

    @property
    def area(self) -> float:
        return max(self.w, 0.0) * max(self.h, 0.0)

    @property
    def xywh(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.w, self.h)

    def within(self, size: Size) -> "Box":
        """The part inside a photo of this size.

        Raises:
            BoxError: it has no area, lies outside, or is made of what are no numbers.
        """
        if not all(math.isfinite(number) for number in self.xywh):
            raise BoxError(f"a box is made of finite numbers, not {self}")
        if not self.w > 0 or not self.h > 0:
            raise BoxError(f"the box has no area: {self}")
        left, top = max(self.x, 0.0), max(self.y, 0.0)
        right, bottom = min(self.x + self.w, size.w), min(self.y + self.h, size.h)
        if right - left < 1 or bottom - top < 1:
            raise BoxError(f"the box {self} lies outside the photo of {size.w} × {size.h} pixels")
        return Box(left, top, right - left, bottom - top)

    def __str__(self) -> str:
        return ",".join(f"{v:g}" for v in self.xywh)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that need not be in the library: a file, or the encoded bytes of one."""

    path: Path | None = None
    data: bytes | None = None

    def __post_init__(self) -> None:
        if (self.path is None) == (self.data is None):
            raise ValueError("a picture is either a path or bytes")

    @property
    def name(self) -> str:
        return self.path.name if self.path else "dropped picture"


# --- library --------------------------------------------------------------------------------


class PhotoState(StrEnum):
    """What is known of a photo."""

    READY = "ready"
    PENDING = "pending"
    FAILED = "failed"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class Photo:
    """One photo of the library: its content, seen at one of the places where it lies.

    ``reason`` says why it failed, or is None. ``taken``: local time as the camera wrote it
    (ISO 8601 without zone), or None. ``size`` is None until it was decoded once.
    """

    id: int
    path: Path
    state: PhotoState
    size: Size | None = None
    taken: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A root that the user added."""

    id: int
    path: Path
    online: bool
    photos: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A file or folder that was left out, with the reason."""

    path: Path
    reason: str


# --- hits -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class FocusMap:
    """Where a match sits.

    ``values``: (rows, columns) float32 in [0, 1], warm = matched, over the whole upright photo:
    cell (r, c) covers its share of height and width. ``exact``: from a fresh pass over the photo
    rather than from stored regions.
    """

    values: FloatArray
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class Hit:
    """A photo that was found.

    ``score`` is a cosine in [-1, 1] from the chosen method, ``global_score`` that of the global
    descriptors. ``box``: the found part in pixels of the upright photo. ``box`` and ``focus`` are
    None for hits below the shortlist and for the global method.
    """

    photo: Photo
    score: float
    global_score: float
    box: Box | None = None
    focus: FocusMap | None = None


@dataclass(frozen=True, slots=True)
class SearchTimings:
    """Milliseconds of each stage."""

    decode: float
    network: float
    shortlist: float
    rerank: float
    expand: float
    total: float
