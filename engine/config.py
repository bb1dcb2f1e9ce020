"""Parameter presets: every number that a person or a measurement may want to change.

All are frozen dataclasses; `validate` methods raise `SettingsError` with one readable line.
"""

import json
from dataclasses import asdict, dataclass, field
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


class LossKind(StrEnum):
    """What a training minimises (`engine.training.losses`)."""

    AP = "ap"
    """1 - mean quantised average precision (Revaud et al. 2019, arXiv 1906.07589, equation 12)."""
    AP_TIE = "ap-tie"
    """The same, aware of ties (equation 13). The paper finds it slightly worse."""
    TRIPLET = "triplet"
    CONTRASTIVE = "contrastive"

    @classmethod
    def named(cls, name: str) -> "LossKind":
        """The kind of this name.

        Raises:
            SettingsError: there is none.
        """
        try:
            return cls(name)
        except ValueError as error:
            known = ", ".join(cls)
            raise SettingsError(f"there is no loss {name!r}; there are {known}") from error


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
    and of the queries that meet them. ``codec``: how regions are stored. ``aggregation``: of the
    descriptor, of photos and queries alike. ``photo_scales``: a photo's descriptor is the mean of
    those that it has at these sizes, relative to the one that ``size_px`` gives it; its regions
    come from that size alone.

    The standard was chosen on the cutouts among what fits 12 kB a photo.
    """

    size_px: int = 768
    regions: RegionScheme = RegionScheme.OSPP
    levels: tuple[int, ...] = (2, 4)
    clusters: int = 25
    clustering: Clustering = Clustering.SPECTRAL
    pooling: Pooling = Pooling.GEM
    codec: Codec = Codec.TWO_BITS
    aggregation: Aggregation = Aggregation.GEM
    photo_scales: tuple[float, ...] = (1.0,)

    def validate(self) -> None:
        if not 64 <= self.size_px <= 4096:
            raise SettingsError(f"size must lie between 64 and 4096 pixels, not {self.size_px}")
        if not self.levels or not all(1 <= level <= 16 for level in self.levels):
            raise SettingsError(f"levels must lie between 1 and 16, not {self.levels}")
        if self.clusters < 0:
            raise SettingsError(f"clusters must be 0 (none) or more, not {self.clusters}")
        if not self.photo_scales or not all(0.1 <= scale <= 1 for scale in self.photo_scales):
            raise SettingsError(f"photo scales must lie between 0.1 and 1, not {self.photo_scales}")

    def facts(self) -> dict[str, object]:
        """The settings by name. What came later is left out while it has the value that it had
        when there was no other: what older libraries keep stays valid."""
        standard = FeatureSettings()
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in _CAME_LATER or value != getattr(standard, name)
        }

    def to_json(self) -> str:
        """The settings as JSON text, for the library to keep beside its vectors."""
        return json.dumps(self.facts(), sort_keys=True)

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
                aggregation=Aggregation(data.get("aggregation", Aggregation.GEM)),
                photo_scales=tuple(float(scale) for scale in data.get("photo_scales", (1.0,))),
            )
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"these are no feature settings: {error}") from error


_CAME_LATER = {"aggregation", "photo_scales"}


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


@dataclass(frozen=True, slots=True)
class LossSettings:
    """The numbers of a loss; each kind takes those that it knows.

    Of average precision: ``bins``, M of equation 7 in Revaud et al. 2019, with centres from
    ``high`` down to ``low``, similarities; ``class_weights``: each class of a batch weighs the
    same; ``self_match``: a query is its own positive, as in the paper; ``memory_bytes``: bound of
    the rows of similarities that are held at a time. Of the others: ``triplet_margin`` and
    ``contrastive_margin``, Euclidean distances between unit vectors, 0…2.
    """

    bins: int = 20
    low: float = -1.0
    high: float = 1.0
    class_weights: bool = True
    self_match: bool = True
    memory_bytes: int = 32 * 1024**2
    triplet_margin: float = 0.1
    contrastive_margin: float = 0.7

    def validate(self) -> None:
        if self.bins < 2:
            raise SettingsError(f"average precision needs at least 2 bins, not {self.bins}")
        if not self.low < self.high:
            raise SettingsError(f"no bins fit between {self.low} and {self.high}")
        if self.memory_bytes < 1:
            raise SettingsError(f"the loss needs memory, not {self.memory_bytes} bytes")
        for margin in (self.triplet_margin, self.contrastive_margin):
            if not 0 < margin <= 2:
                raise SettingsError(f"a margin must lie between 0 and 2, not {margin}")


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The recipe of a training (Revaud et al. 2019, section 4.1), fit for two cores by itself.

    ``steps``: updates of the weights. ``batch``: pictures of a step (the paper's 4,096 saturate),
    ``per_class`` of one class; ``balanced``: classes take turns, else photos are drawn whatever
    their class. ``micro_batch``: pictures that pass at once. ``crop_px``: side of what the network
    is shown; a crop takes at least ``smallest_crop`` of a photo's area. ``lr`` of Adam falls
    linearly to 0, ``p_lr`` is that of GeM's exponent. ``frozen``: share 0…1 of the first layers
    that stay as they are. ``blend``: share 0…1 of the trained weights in those that are kept, the
    rest is of the start: what was learned from few kinds of photos then costs less on others
    (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). ``hold_out``: share of the
    classes that measure; every ``validate_every``
    steps their photos, ``validate_px`` long, look for each other. ``keep_every_s``: seconds between
    checkpoints.
    """

    loss: LossKind = LossKind.AP
    loss_settings: LossSettings = field(default_factory=LossSettings)
    steps: int = 200
    batch: int = 256
    per_class: int = 4
    balanced: bool = True
    micro_batch: int = 16
    crop_px: int = 224
    smallest_crop: float = 0.3
    lr: float = 1e-4
    p_lr: float = 1e-3
    weight_decay: float = 1e-6
    frozen: float = 0.0
    blend: float = 1.0
    hold_out: float = 0.1
    validate_every: int = 20
    validate_px: int = 320
    keep_every_s: float = 60.0
    seed: int = 0

    def validate(self) -> None:
        self.loss_settings.validate()
        for name in ("steps", "batch", "per_class", "micro_batch", "validate_every"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if self.batch < 2 * self.per_class:
            raise SettingsError("a batch needs pictures of at least two classes")
        for name in ("crop_px", "validate_px"):
            if not 32 <= getattr(self, name) <= 4096:
                raise SettingsError(f"{name} must lie between 32 and 4096")
        for name in ("lr", "p_lr"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingsError(f"{name} must be above 0 and at most 1")
        if not 0 <= self.weight_decay <= 1:
            raise SettingsError("the weight decay must lie between 0 and 1")
        if self.seed < 0:
            raise SettingsError(f"a seed is 0 or more, not {self.seed}")
        for name in ("frozen", "smallest_crop", "blend"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} is a share, 0 to 1, not {getattr(self, name)}")
        if not 0 <= self.hold_out < 1:
            raise SettingsError(f"the share held out is 0 or more and below 1, not {self.hold_out}")
