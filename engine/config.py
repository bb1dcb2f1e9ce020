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
    """QAM for a box, the global descriptor for a whole photo: merging regions of the candidate
    cannot help a query that is a whole scene, and was measured to hurt it."""
    GLOBAL = "global"
    QAM = "qam"


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


class RegionScheme(StrEnum):
    """Which base regions a photo is given."""

    OSPP = "ospp"


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
    whose output is the feature map; None: the paper's, or the network's last.
    """

    name: str
    weights: Path | None = None
    layer: str | None = None


@dataclass(frozen=True, slots=True)
class FeatureSettings:
    """What decides the numbers that are stored for a photo, beside the network itself.

    ``size_px``: longest side of the photo in pixels before the network; smaller photos are
    never enlarged. ``levels``: the number L of pyramid scales of the overlapped spatial pyramid
    (Cao et al. 2016, section 3.2).
    """

    size_px: int = 768
    regions: RegionScheme = RegionScheme.OSPP
    levels: int = 3

    def validate(self) -> None:
        if not 64 <= self.size_px <= 4096:
            raise SettingsError(f"size must lie between 64 and 4096 pixels, not {self.size_px}")
        if not 1 <= self.levels <= 8:
            raise SettingsError(f"levels must lie between 1 and 8, not {self.levels}")

    def to_json(self) -> str:
        """The settings as JSON text, for the library to keep beside its vectors."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "FeatureSettings":
        """The settings that `to_json` wrote.

        Raises:
            SettingsError: the text is none, or of a Refocal that knows others.
        """
        try:
            data = json.loads(text)
            return cls(**{**data, "regions": RegionScheme(data["regions"])})
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"these are no feature settings: {error}") from error


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How one search runs.

    ``shortlist``: how many of the first stage's candidates are re-ranked. ``query_scale``: the
    box crop is resized by its photo's own factor times this. ``expand_top``: how many of the
    best hits join the expanded query; ``alpha``: exponent of their similarity.
    """

    method: Method = Method.AUTO
    solver: Solver = Solver.BATCHED
    shortlist: int = 100
    query_scale: float = 1.0
    expand: Expansion = Expansion.NONE
    expand_top: int = 5
    alpha: float = 2.0

    def validate(self) -> None:
        if self.shortlist < 1:
            raise SettingsError(f"the shortlist must hold at least 1 photo, not {self.shortlist}")
        if not 0.1 <= self.query_scale <= 10:
            raise SettingsError(f"query scale must lie between 0.1 and 10, not {self.query_scale}")
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
