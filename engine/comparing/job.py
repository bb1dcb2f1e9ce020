"""The two jobs: the table of methods, and a sweep of one setting."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from engine.comparing.descriptors import describe, learn
from engine.comparing.extraction import Content, Extraction, Source
from engine.comparing.kept import KeptArrays
from engine.comparing.matching import Matching
from engine.comparing.material import Material, gather
from engine.comparing.methods import Methods
from engine.comparing.rankings import SHORTLIST
from engine.comparing.reranking import default, groups, of_pyramid, of_the_table
from engine.comparing.table import Claim, Row, Table, best_claims, claims_of, clustering_claim
from engine.config import (
    Aggregation,
    Clustering,
    FeatureSettings,
    NetworkChoice,
    Pooling,
    SearchSettings,
)
from engine.errors import SettingsError
from engine.evaluation.groundtruth import GroundTruth
from engine.evaluation.reading import read
from engine.features.whitening import Whitening
from engine.jobs import Ticket
from engine.measuring import demand_photos, photos_in
from engine.network.registry import DEFAULT
from engine.runtime import Runtime, Use
from engine.searching.query import BOX_SCALES
from engine.store.paths import evaluation_cache

GROUPS = (5, 10, 25, 50, 100)
SIZES_PX = (320, 512, 768, 1024)
LAYERS = ("blocks.3", "blocks.4", "blocks.5", "blocks.6", "conv_head", "bn2")
"""Of the shipped network, deeper and deeper; the last ends with the ReLU that it is used with."""
QUERY_SCALES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)


class Sweep(StrEnum):
    """What a sweep varies."""

    K = "k"
    LAYER = "layer"
    SIZE = "size"
    QUERY_SCALE = "query-scale"


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """Compare methods on a folder that holds photos and a ground truth.

    ``sweep`` None: the table of methods. ``whitening_from``: a folder of other photos that
    whitenings are learned from; ``exponent`` of theirs. ``distractors``: folders whose photos are
    ranked too. ``network`` None: the shipped one. ``layers``: what a sweep of layers goes
    through, by name; none: `LAYERS` of the shipped network.
    """

    folder: Path
    sweep: Sweep | None = None
    size_px: int | None = None
    query_scale: float = 1.0
    whitening_from: Path | None = None
    exponent: float = 0.5
    distractors: tuple[Path, ...] = ()
    layers: tuple[str, ...] = ()
    network: NetworkChoice | None = None


def compare(
    request: CompareRequest,
    ticket: Ticket,
    *,
    runtime: Runtime | None = None,
) -> Table:
    """The table of methods, or a sweep; photos go through the network once for each size and layer,
    in this run or an earlier one.

    Args:
        runtime: taken over and closed.

    Raises:
        GroundTruthError: there is no ground truth, or it says nothing to measure.
        SettingsError: a number out of range, photos to learn a whitening from that are compared,
            or a sweep of no layers.
        FolderError: a folder is missing or holds no photo.
        PhotoError: a photo that asks cannot be read.
    """
    SearchSettings(query_scales=(request.query_scale,)).validate()
    truth = read(request.folder)
    demand_photos(truth)
    distracting = photos_in(request.distractors)
    with runtime or Runtime() as own:
        run = _Run(request, truth, distracting, own, ticket)
        return run.table() if request.sweep is None else run.swept(request.sweep)


class _Run:
    def __init__(
        self,
        request: CompareRequest,
        truth: GroundTruth,
        distracting: Sequence[Path],
        runtime: Runtime,
        ticket: Ticket,
    ) -> None:
        self._request = request
        self._network = request.network or NetworkChoice(DEFAULT)
        self._truth = truth
        self._distracting = distracting
        self._runtime = runtime
        self._ticket = ticket
        self._begun = time.monotonic()
        self._extractions: list[Extraction] = []
        self._features = FeatureSettings(size_px=request.size_px or FeatureSettings().size_px)

    # --- the table --------------------------------------------------------------------------

    def table(self) -> Table:
        """Every method of the papers."""
        extraction = self._extraction(self._features)
        material = self._gathered(extraction)
        whitenings, left_out = self._whitenings(material)
        rows = tuple(self._methods(material, whitenings))
        return self._finished(material, "", rows, claims_of(rows), left_out)

    def _methods(
        self, material: Material, whitenings: Mapping[Aggregation, Whitening]
    ) -> Iterator[Row]:
        methods = Methods(material)
        lists = [describe(material, aggregation) for aggregation in Aggregation]
        lists += [describe(material, one, whitening) for one, whitening in whitenings.items()]
        for descriptors in lists:
            yield methods.aggregated(descriptors)
        for reranking in of_the_table():
            expand = reranking.matching is not Matching.BEST
            for descriptors in lists:
                yield from methods.reranked(descriptors, reranking, expand=expand)
        # All channels of one photo are a hundred times the work: one list has to do.
        (paper,) = (one for one in lists if one.name == Aggregation.RMAC)
        yield from methods.reranked(paper, groups(None), expand=False)

    def _whitenings(
        self, material: Material
    ) -> tuple[dict[Aggregation, Whitening], tuple[str, ...]]:
        folder = self._request.whitening_from
        if folder is None:
            reason = "whitened rows: no other photos to learn a whitening from (--whitening-from)"
            return {}, (reason,)
        found, _ = material.extraction.photos(photos_in([folder]))
        contents = {content.name: content for content in found.values()}
        _demand_strangers(contents, material)
        learned = learn(
            material.extraction,
            list(contents.values()),
            name=folder.name,
            exponent=self._request.exponent,
        )
        return learned, ()

    # --- sweeps -----------------------------------------------------------------------------

    def swept(self, sweep: Sweep) -> Table:
        """The papers' sweep of this setting."""
        rows: list[Row] = []
        material = None
        for setting, material in self._settings_of(sweep):
            if sweep is Sweep.K:
                rows += self._rows_of_k(material)
            else:
                rows += self._rows_of(material, setting)
        assert material is not None  # every sweep has values
        claims = _claims_of_k(rows) if sweep is Sweep.K else best_claims(rows, str(sweep))
        return self._finished(material, str(sweep), tuple(rows), claims, ())

    def _settings_of(self, sweep: Sweep) -> Iterator[tuple[str, Material]]:
        if sweep is Sweep.K:
            yield "", self._gathered(self._extraction(self._features))
        elif sweep is Sweep.SIZE:
            for size_px in SIZES_PX:
                features = replace(self._features, size_px=size_px)
                yield f"{size_px} px", self._gathered(self._extraction(features))
        elif sweep is Sweep.QUERY_SCALE:
            extraction = self._extraction(self._features)
            for scale in QUERY_SCALES:
                yield f"{scale:g}", self._gathered(extraction, scale, (scale,))
        else:
            for name in self._request.layers or LAYERS:
                choice = replace(self._network, layer=name)
                yield name, self._gathered(self._extraction(self._features, choice))

    def _rows_of(self, material: Material, setting: str) -> Iterator[Row]:
        """Without feature map pooling, whose groups would have to be found anew each time."""
        methods = Methods(material, setting=setting)
        lists = {one: describe(material, one) for one in _SWEPT}
        for descriptors in lists.values():
            yield methods.aggregated(descriptors)
        for aggregation, reranking in (
            (Aggregation.RMAC, of_pyramid(Matching.QAM, Pooling.MAX)),
            (Aggregation.GEM, of_pyramid(Matching.QAM, Pooling.GEM)),
            (Aggregation.GEM, of_pyramid(Matching.BEST, Pooling.GEM)),
            (Aggregation.GEM, default()),
        ):
            yield from methods.reranked(lists[aggregation], reranking, expand=False)

    def _rows_of_k(self, material: Material) -> Iterator[Row]:
        paper = describe(material, Aggregation.RMAC)
        for k in (*GROUPS, None):
            for clustering in Clustering if k is not None else (None,):
                reranking = groups(k, clustering or Clustering.SPECTRAL)
                methods = Methods(material, setting="none" if k is None else str(k))
                yield from methods.reranked(paper, reranking, expand=False)

    # --- parts ------------------------------------------------------------------------------

    def _extraction(
        self, features: FeatureSettings, network: NetworkChoice | None = None
    ) -> Extraction:
        features.validate()
        known = self._runtime.manifest(network or self._network)
        extraction = Extraction(
            Source(known, features, lambda: self._runtime.network(features, known)),
            KeptArrays(evaluation_cache() / "maps"),
            pool=self._runtime.pool(Use.WORK),
            thumbnail_px=self._runtime.decode.thumbnail_px,
            ticket=self._ticket,
        )
        self._extractions.append(extraction)
        return extraction

    def _gathered(
        self,
        extraction: Extraction,
        query_scale: float | None = None,
        part_scales: Sequence[float] = BOX_SCALES,
    ) -> Material:
        return gather(
            self._truth,
            extraction,
            distractors=self._distracting,
            query_scale=query_scale or self._request.query_scale,
            part_scales=part_scales,
        )

    def _finished(
        self,
        material: Material,
        sweep: str,
        rows: tuple[Row, ...],
        claims: tuple[Claim, ...],
        left_out: tuple[str, ...],
    ) -> Table:
        return Table(
            dataset=self._truth.name,
            queries=len(self._truth.queries),
            photos=len(material.ranked),
            sweep=sweep,
            rows=rows,
            claims=claims,
            left_out=left_out,
            passes=sum(extraction.passes for extraction in self._extractions),
            failed=len(material.failures),
            seconds=time.monotonic() - self._begun,
            settings=self._settings(material),
        )

    def _settings(self, material: Material) -> dict[str, object]:
        """Everything that the figures depend on."""
        request, known = self._request, material.extraction.source.manifest
        whitening = request.whitening_from
        said: dict[str, object] = {
            "network": known.name,
            "layer": known.layer,
            "size_px": self._features.size_px,
            "query_scale": request.query_scale,
            "part_scales": BOX_SCALES,
            "protocol": str(self._truth.protocol),
            "shortlist": SHORTLIST,
            "distractors": len(material.distractors),
            "whitening": f"{whitening.name}, exponent {request.exponent:g}" if whitening else None,
        }
        if request.sweep is not None:  # what varies stands in the rows
            for name in _VARIED[request.sweep]:
                del said[name]
        return said


_VARIED: dict[Sweep, tuple[str, ...]] = {
    Sweep.K: (),
    Sweep.LAYER: ("layer",),
    Sweep.SIZE: ("size_px",),
    Sweep.QUERY_SCALE: ("query_scale", "part_scales"),
}
_SWEPT = (Aggregation.SPOC, Aggregation.RMAC, Aggregation.GEM)


def _claims_of_k(rows: Sequence[Row]) -> tuple[Claim, ...]:
    """Without groups, nobody has grouped: that row belongs to both ways of clustering."""

    def ways(row: Row) -> list[str]:
        return [str(one) for one in Clustering if one in row.reranking] or list(Clustering)

    same = clustering_claim(rows)
    return (*best_claims(rows, "K", of=ways), *((same,) if same else ()))


def _demand_strangers(contents: Mapping[str, Content], material: Material) -> None:
    """Nothing that a figure is reported on may be among what was learned from."""
    compared = {content.name for content in material.ranked}
    compared |= {question.own.name for question in material.questions}
    shared = [content for name, content in contents.items() if name in compared]
    if shared:
        raise SettingsError(
            f"{len(shared)} of the photos to learn a whitening from are compared themselves, "
            f"such as {shared[0].path.name}: choose another folder"
        )
