"""Parameter presets: every number that a person or a measurement may want to change.

All are frozen dataclasses; `validate` methods raise `SettingsError` with one readable line.
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from engine.errors import SettingsError


class Method(StrEnum):
    """How the first stage's candidates are scored."""

    AUTO = "auto"
    """The standard one, sparse merging: nothing else was better for any kind of query."""
    GLOBAL = "global"
    QAM = "qam"
    """Query adaptive matching as its paper has it, a free merge (`engine.rank.qam`)."""
    BEST = "best"
    """The single best region."""
    SPARSE = "sparse"
    """The best regions in proportion (`engine.rank.sparse`)."""


class Solver(StrEnum):
    """Who solves the quadratic programme of query adaptive matching; all three are exact."""

    BATCHED = "batched"
    """All candidates at once, by block pivoting. The fastest."""
    NNLS = "nnls"
    """One candidate after the other, on the Cholesky factor of its Gram matrix."""
    OSQP = "osqp"
    """The programme as the paper writes it, through qpsolvers. The reference."""


class Expansion(StrEnum):
    """Query expansion after re-ranking."""

    NONE = "none"
    AVERAGE = "average"
    ALPHA = "alpha"
    MATCHED = "matched"
    """With the parts of the best hits that matched, and the shortlist ranked once more."""


class RegionScheme(StrEnum):
    """Which base regions a photo is given."""

    OSPP = "ospp"
    SQUARES = "squares"
    CELLS = "cells"
    FMP = "fmp"


class Codec(StrEnum):
    """How region vectors are stored (`engine.features.codes`)."""

    TWO_BITS = "two-bits"
    FLOAT16 = "float16"


class Pooling(StrEnum):
    """How the cells of a region become one feature (`engine.features.pooling`)."""

    SUM = "sum"
    MAX = "max"
    GEM = "gem"


class Aggregation(StrEnum):
    """How a whole feature map becomes one descriptor (`engine.features.aggregation`)."""

    MAC = "mac"
    SPOC = "spoc"
    CROW = "crow"
    RMAC = "r-mac"
    GEM = "gem"


class Clustering(StrEnum):
    """Who groups the channels of a photo in feature map pooling (Cao et al. 2016, section 3.2)."""

    SPECTRAL = "spectral"
    KMEANS = "k-means"


@dataclass(frozen=True, slots=True)
class NetworkChoice:
    """A network by name, as the command line takes it: a shipped one, one of the papers'
    ("vgg19", "googlenet", "resnet152", "resnet101", "resnet50"), or "timm:NAME".

    ``weights``: the file of its weights, which all but the shipped need. ``layer``: the module
    whose output is the feature map; None: the paper's, or the network's last. ``folder``: of a
    network that a library keeps, which knows all of this itself.
    """

    name: str
    weights: Path | None = None
    layer: str | None = None
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """What decides the numbers that are stored for a photo, beside the network itself.

    ``size_px``: longest side of the photo in pixels before the network; smaller photos are
    never enlarged. ``regions``: which parts get a feature. ``levels``: of `RegionScheme.OSPP` and
    `SQUARES`, the scales l of the pyramid; a square's side is 2/(l + 1) of the photo's shorter
    one (Cao et al. 2016, section 3.2, have 1, 2 and 3). ``clusters``: of `FMP`, the number K of
    groups of channels, 0 = none; ``clustering``: how they are found. ``pooling``: of the regions,
    and of the queries that meet them. ``codec``: how regions are stored.

    The standard was chosen on the cutouts among what fits 12 kB a photo.
    """

    size_px: int = 768
    regions: RegionScheme = RegionScheme.OSPP
    levels: tuple[int, ...] = (2, 4)
    clusters: int = 25
    clustering: Clustering = Clustering.SPECTRAL
    pooling: Pooling = Pooling.GEM
    codec: Codec = Codec.TWO_BITS

    def validate(self) -> None:
        if not 64 <= self.size_px <= 4096:
            raise SettingsError(f"size must lie between 64 and 4096 pixels, not {self.size_px}")
        if not self.levels or not all(1 <= level <= 16 for level in self.levels):
            raise SettingsError(f"levels must lie between 1 and 16, not {self.levels}")
        if self.clusters < 0:
            raise SettingsError(f"clusters must be 0 (none) or more, not {self.clusters}")

    def to_json(self) -> str:
        """The settings as JSON text, for the library to keep beside its vectors."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "FeatureSettings":
        """The settings that `to_json` wrote. An older Refocal knew fewer: then the size, the one
        that a person chooses, and the standard for the rest.

        Raises:
            SettingsError: the text is none, or of a Refocal that knows others.
        """
        try:
            data = json.loads(text)
            if "codec" not in data:
                return cls(size_px=int(data["size_px"]))
            return cls(
                size_px=int(data["size_px"]),
                regions=RegionScheme(data["regions"]),
                levels=tuple(int(level) for level in data["levels"]),
                clusters=int(data["clusters"]),
                clustering=Clustering(data["clustering"]),
                pooling=Pooling(data["pooling"]),
                codec=Codec(data["codec"]),
            )
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"these are no feature settings: {error}") from error


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How one search runs.

    ``shortlist``: how many of the first stage's candidates are re-ranked. ``query_scales``: a
    query is seen at each of these sizes, relative to that of its photo; None: the standard, see
    `engine.searching.query`. ``expand_top``: how many of the best hits join the expanded query;
    ``alpha``: exponent of their similarity.
    """

    method: Method = Method.AUTO
    solver: Solver = Solver.BATCHED
    shortlist: int = 200
    query_scales: tuple[float, ...] | None = None
    expand: Expansion = Expansion.NONE
    expand_top: int = 5
    alpha: float = 2.0

    def validate(self) -> None:
        if self.shortlist < 1:
            raise SettingsError(f"the shortlist must hold at least 1 photo, not {self.shortlist}")
        for scale in self.query_scales or ():
            if not 0.1 <= scale <= 10:
                raise SettingsError(f"query scale must lie between 0.1 and 10, not {scale}")
        if self.query_scales == ():
            raise SettingsError("a query needs at least one scale")
        if self.expand_top < 1:
            raise SettingsError(f"expansion needs at least 1 photo, not {self.expand_top}")


@dataclass(frozen=True, slots=True)
class HnswSettings:
    """Hierarchical navigable small world graph (names are hnswlib's).

    Search is exact below ``from_rows``.
    """

    from_rows: int = 5_000
    m: int = 16
    ef_construction: int = 200
    ef_search: int = 256


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Limits for one file and for the processes that decode.

    ``timeout_s`` is generous: a slow network share is no damaged file. ``max_pixels`` bounds the
    pixels of one decoded picture (after a reduced decode, where the format has one).
    """

    workers: int = 1
    timeout_s: float = 60.0
    max_pixels: int = 200_000_000
    thumbnail_px: int = 320
    thumbnail_cache_bytes: int = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """``commit_every``: photos between two commits, what a kill can cost at most. ``hand_over``:
    photos given to the network at once, what a cancel waits for. ``publish_every_s``: seconds
    between two snapshots that searches may see."""

    commit_every: int = 16
    hand_over: int = 8
    publish_every_s: float = 30.0
