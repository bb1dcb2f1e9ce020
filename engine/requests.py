"""Requests and answers, a pair for each job of the engine.

`engine.service.Engine` takes a request and a ticket and returns the answer; a script, a test, the
command line and the window all speak these words.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from engine.config import FeatureSettings, NetworkChoice, SearchSettings
from engine.types import (
    Box,
    Failure,
    FocusMap,
    Folder,
    Hit,
    Photo,
    Picture,
    PixelArray,
    SearchTimings,
    Size,
)


@dataclass(frozen=True, slots=True)
class WarmRequest:
    """Load the network, test the device, open the index."""


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """``device``: "cpu" or "cuda"; ``device_reason``: why this one, one line.
    ``index``: "exact" or "hnsw"; ``index_reason``: why this one."""

    network: str
    device: str
    device_reason: str
    index: str
    index_reason: str
    photos: int


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Add folders (none: all that the library has) and index what is new.

    ``features``: what is stored of each photo; None = as the library has it.
    """

    folders: tuple[Path, ...] = ()
    features: FeatureSettings | None = None
    retry_failed: bool = False


@dataclass(frozen=True, slots=True)
class IndexReport:
    """``found``: photo files that are there = ``indexed`` + ``unchanged`` + ``failed`` + ``copies``
    unless some changed under way. ``indexed``: photos that the network has seen in this run, for
    the first time; ``unchanged``: had seen before. ``failed``: photos that cannot be read, now or
    since an earlier run. ``copies``: files whose content lies in another place too. ``offline``:
    known photos that cannot be reached. ``passes``: photos that went through the network in this
    run. ``skipped``: folders and files that could not be looked into. ``notes``: what was said
    once, such as a change of device."""

    found: int
    indexed: int
    unchanged: int
    failed: int
    offline: int
    passes: int
    seconds: float
    failures: tuple[Failure, ...] = ()
    skipped: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    copies: int = 0


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """``liked`` and ``disliked``: ids of photos that a searcher pointed at, "more like this" and
    "not this"; what matched in them pulls the query to itself or pushes it away.
    ``settings`` None: the defaults. ``top`` None: every photo, best first. ``with_own``: the
    photo that asks, or a copy of it, is found like any other; else it is left out."""

    picture: Picture
    box: Box | None = None
    top: int | None = 100
    settings: SearchSettings | None = None
    features: FeatureSettings | None = None
    with_own: bool = False
    liked: tuple[int, ...] = ()
    disliked: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Cutoff:
    """``score``: hits of at least this score are likely to be the thing. ``good``: whether the
    best hit is; if not, the search has found no good match, and the hits are only the nearest."""

    score: float
    good: bool


@dataclass(frozen=True, slots=True, eq=False)
class SearchAnswer:
    """``token`` names the query for `FocusRequest` and `MoreHitsRequest`. ``method``: what AUTO
    became. ``total``: how many photos can be listed, of which ``hits`` are the first. ``cutoff``:
    None where there are too few hits to tell."""

    token: str
    query: Picture
    query_size: Size
    box: Box | None
    network: str
    method: str
    hits: tuple[Hit, ...]
    timings_ms: SearchTimings
    total: int = 0
    cutoff: Cutoff | None = None


@dataclass(frozen=True, slots=True)
class MoreHitsRequest:
    """The hits of an earlier search from ``offset`` on, at most ``limit`` of them."""

    token: str
    offset: int
    limit: int = 200


@dataclass(frozen=True, slots=True, eq=False)
class HitPage:
    """``hits``: those from ``offset`` on, best first; ``total``: how many there are in all."""

    offset: int
    total: int
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Write the hits of an earlier search to a file whose suffix says how: see
    `engine.exporting.ExportForm`. ``min_score``: only those of at least this; None: all."""

    token: str
    target: Path
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class ExportReport:
    """``hits``: how many were written to ``target``."""

    target: Path
    hits: int


@dataclass(frozen=True, slots=True)
class FocusRequest:
    """The focus map of one photo for an earlier search, hit or not.

    ``exact``: from a fresh pass, which needs the photo online; else from its stored regions.
    """

    token: str
    photo_id: int
    exact: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class FocusAnswer:
    """The exact map, and the box it gives, for one hit."""

    photo_id: int
    focus: FocusMap
    box: Box | None


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """Pixels of a picture for the eye. ``max_side_px``: longest side, never enlarged."""

    picture: Picture
    max_side_px: int


@dataclass(frozen=True, slots=True, eq=False)
class Preview:
    """``pixels``: (H, W, 3) uint8, upright sRGB. ``size``: of the upright photo, for boxes."""

    pixels: PixelArray
    size: Size


@dataclass(frozen=True, slots=True)
class ThumbnailRequest:
    """A small picture of one photo of the library."""

    photo_id: int


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """``jpeg``: an encoded upright sRGB picture."""

    photo_id: int
    jpeg: bytes


class PhotoFilter(StrEnum):
    """Which photos of the library a page shows."""

    ALL = "all"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class PhotosRequest:
    """A page of the library's photos, in the order of folder and path."""

    offset: int = 0
    limit: int = 500
    show: PhotoFilter = PhotoFilter.ALL


@dataclass(frozen=True, slots=True)
class PhotoPage:
    """``total``: how many there are in all."""

    offset: int
    total: int
    photos: tuple[Photo, ...]


@dataclass(frozen=True, slots=True)
class OverviewRequest:
    """What the library holds, without touching the network."""


@dataclass(frozen=True, slots=True)
class LibraryOverview:
    """``ready`` and ``failed``: photos, for the active network. ``writable``: whether this process
    may change the library."""

    folders: tuple[Folder, ...]
    photos: int
    ready: int
    failed: int
    writable: bool


@dataclass(frozen=True, slots=True)
class EvaluateRequest:
    """Measure retrieval on a folder that holds photos and a ground truth.

    ``distractors``: folders whose photos are ranked too and are right for no query.
    ``exact_focus``: judge the exact focus maps, which the window shows, by one more network pass
    for every judged pair; else the footprints of the stored regions. ``features`` None: the
    standard. ``network`` None: the shipped one.
    """

    folder: Path
    settings: SearchSettings | None = None
    features: FeatureSettings | None = None
    exact_focus: bool = True
    distractors: tuple[Path, ...] = ()
    network: NetworkChoice | None = None


@dataclass(frozen=True, slots=True)
class ProtocolFigures:
    """``queries``: those that have a positive; the others are left out of the means, in [0, 1].
    ``mean_precision_at``: mP@k by k."""

    queries: int
    map: float
    mean_precision_at: dict[int, float]


@dataclass(frozen=True, slots=True)
class EvaluateReport:
    """All figures in [0, 1] but ``ns_score`` in [0, 4]; None where the set does not allow one.

    ``map``: mean average precision of the final ranking; ``map_global``: of the global
    descriptors alone, from the same run. ``recall_at``: share of positives in the first k.
    ``protocols``: the figures of each part of the protocol by its name; of a revisited set "easy",
    "medium" and "hard", where all the others are of "medium". ``distractors``: how many photos
    were ranked that belong to no query's answers and came from folders of their own.
    ``pointing``: share of focus maps whose maximum lies in the mask, ``pointing_chance``: mean
    area of the masks; ``focus_iou``: of the mask and the map above half its maximum.
    ``timings_ms``: medians for one query.
    """

    dataset: str
    queries: int
    map: float
    map_global: float
    ns_score: float | None
    recall_at: dict[int, float]
    pointing: float | None
    pointing_chance: float | None
    focus_iou: float | None
    protocols: dict[str, ProtocolFigures]
    distractors: int
    timings_ms: dict[str, float]
    settings: dict[str, object]


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """Look the library over, change nothing."""


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """``problems`` empty: nothing wrong. ``facts``: versions, device, sizes, for a bug report."""

    problems: tuple[str, ...]
    facts: dict[str, str] = field(default_factory=dict)
