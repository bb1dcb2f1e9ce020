"""Tables of small folders of real photos: every figure again, by the library's functions alone."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.comparing.extraction import Extraction, HalfArray, Maps, Source
from engine.comparing.job import CompareRequest, compare
from engine.comparing.kept import KeptArrays
from engine.comparing.material import Material, gather
from engine.comparing.table import Table
from engine.config import (
    Aggregation,
    Clustering,
    Expansion,
    FeatureSettings,
    Method,
    Pooling,
    SearchSettings,
)
from engine.evaluation.groundtruth import TruthQuery
from engine.evaluation.metrics import ns_score
from engine.evaluation.reading import read
from engine.features.aggregation import aggregate, gem, rmac, spoc
from engine.features.fmp import channel_regions
from engine.features.grid import CellArray, ospp
from engine.features.pooling import pool
from engine.jobs import Ticket
from engine.measuring import evaluate
from engine.network.registry import DEFAULT, manifest
from engine.rank.expansion import alpha_weighted, average
from engine.rank.precision import average_precision
from engine.rank.qam import match
from engine.rank.sparse import merge_many
from engine.requests import EvaluateRequest
from engine.searching.query import BOX_SCALES, PHOTO_LEVELS
from engine.store.paths import evaluation_cache
from tests.fakes.inline_pool import InlinePool

pytestmark = [pytest.mark.heavy, pytest.mark.photos]

SIZE_PX = 224


def _subset(
    source: Path, target: Path, queries: slice, *, others: str = "", count: int = 0
) -> Path:
    """Some queries of a set with what they should find, and some photos more."""
    truth = json.loads((source / "gt.json").read_text())
    kept = truth["queries"][queries]
    names = dict.fromkeys(name for q in kept for name in (q["photo"], *q["positives"]))
    names.update(dict.fromkeys([n for n in truth["photos"] if others and others in n][:count]))
    for query in kept:
        query["junk"] = [name for name in query.get("junk") or [] if name in names]
        masks = query.get("masks") or {}
        query["masks"] = {name: mask for name, mask in masks.items() if name in names}
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, target / name)
    written = {**truth, "photos": list(names), "queries": kept}
    (target / "gt.json").write_text(json.dumps(written))
    return target


def _pyramid(feature_map: HalfArray) -> CellArray:
    h, w = feature_map.shape[1:]
    return ospp(h, w, 3)


def _squares(feature_map: HalfArray, levels: tuple[int, ...]) -> CellArray:
    h, w = feature_map.shape[1:]
    return ospp(h, w, levels)


@dataclass(frozen=True)
class Compared:
    folder: Path
    table: Table

    def map_of(self, method: str, expansion: Expansion = Expansion.NONE) -> float:
        (row,) = (
            row for row in self.table.rows if row.method == method and row.expansion is expansion
        )
        return row.map

    def material(self) -> Material:
        """From what the table has kept: no network is loaded."""

        def load() -> Maps:
            pytest.fail("a map is missing")

        features = FeatureSettings(size_px=SIZE_PX)
        extraction = Extraction(
            Source(manifest(DEFAULT), features, load),
            KeptArrays(evaluation_cache() / "maps"),
            pool=InlinePool(),
            thumbnail_px=320,
            ticket=Ticket(),
        )
        return gather(read(self.folder), extraction, part_scales=BOX_SCALES)


def _compared(folder: Path) -> Compared:
    return Compared(folder, compare(CompareRequest(folder, size_px=SIZE_PX), Ticket()))


@pytest.fixture(scope="module")
def cutouts(photo_sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("cutouts")
    return _compared(_subset(photo_sets / "cutouts", folder, slice(0, 2), others="plain", count=5))


@pytest.fixture(scope="module")
def ukbench(photo_sets: Path, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    folder = tmp_path_factory.mktemp("ukbench")
    return _compared(_subset(photo_sets / "ukbench", folder, slice(0, 8)))


@dataclass(frozen=True)
class Plain:
    """Loops over the maps, without anything of the table."""

    material: Material

    def maps(self) -> list[HalfArray]:
        return [self.material.extraction.map_of(one) for one in self.material.ranked]

    def crops(self) -> list[HalfArray]:
        extraction = self.material.extraction
        return [extraction.map_of(question.crop) for question in self.material.questions]

    def map_of(self, scores: np.ndarray) -> float:
        """mAP of (queries, photos) scores."""
        precisions = [
            average_precision(self.relevance(n, row), len(self._query(n).positives))
            for n, row in enumerate(scores)
        ]
        return float(np.mean(precisions))

    def relevance(self, number: int, scores: np.ndarray) -> np.ndarray:
        query, names = self._query(number), [one.path.name for one in self.material.ranked]
        left_out = {Path(name).name for name in (query.photo, *query.junk)}
        right = {Path(name).name for name in query.positives}
        order = [names[place] for place in np.argsort(-scores, kind="stable")]
        return np.array([name in right for name in order if name not in left_out])

    def _query(self, number: int) -> TruthQuery:
        return self.material.truth.queries[number]

    def by_regions(
        self,
        regions_of: Callable[[HalfArray], np.ndarray],
        asked: Callable[[HalfArray], np.ndarray],
    ) -> float:
        """mAP of QAM, one call for each pair."""
        tables = [regions_of(one).astype(np.float16) for one in self.maps()]
        return self.map_of(
            np.array([[match(asked(crop), t).score for t in tables] for crop in self.crops()])
        )


@pytest.mark.parametrize("aggregation", Aggregation)
def test_aggregations_of_boxes(cutouts: Compared, aggregation: Aggregation) -> None:
    plain = Plain(cutouts.material())
    photos = np.stack([aggregate(one, aggregation) for one in plain.maps()])
    asked = np.stack([aggregate(one, aggregation) for one in plain.crops()])
    assert cutouts.map_of(aggregation) == pytest.approx(plain.map_of(asked @ photos.T))


def test_qam_of_boxes(cutouts: Compared) -> None:
    plain = Plain(cutouts.material())

    def pyramid(pooling: Pooling) -> Callable[[HalfArray], np.ndarray]:
        return lambda one: pool(one, _pyramid(one), pooling)

    def groups(k: int | None, clustering: Clustering) -> Callable[[HalfArray], np.ndarray]:
        return lambda one: channel_regions(one, k, clustering=clustering).features

    for name, regions_of, asked in (
        ("QAM (OSPP, max)", pyramid(Pooling.MAX), rmac),
        ("QAM (OSPP, gem)", pyramid(Pooling.GEM), gem),
        ("QAM (FMP, K = 25, spectral)", groups(25, Clustering.SPECTRAL), spoc),
        ("QAM (FMP, K = 25, k-means)", groups(25, Clustering.KMEANS), spoc),
        ("QAM (FMP, no clustering)", groups(None, Clustering.SPECTRAL), spoc),
    ):
        expected = plain.by_regions(regions_of, asked)
        assert cutouts.map_of(f"r-mac + {name}") == pytest.approx(expected, abs=1e-6), name


def test_the_default_of_boxes_and_of_whole_photos(cutouts: Compared, ukbench: Compared) -> None:
    for compared in (cutouts, ukbench):
        plain = Plain(compared.material())
        map_of = plain.material.extraction.map_of
        tables = [
            pool(one, _squares(one, FeatureSettings().levels), Pooling.GEM) for one in plain.maps()
        ]
        scores = []
        for question in plain.material.questions:
            if question.scaled:
                parts = np.sum([gem(map_of(one)) for one in question.scaled], axis=0)[None]
            else:
                own = map_of(question.crop)
                parts = pool(own, _squares(own, PHOTO_LEVELS), Pooling.GEM)
            parts = parts / np.linalg.norm(parts, axis=1, keepdims=True)
            scores.append(
                [merge_many(parts @ t.T, [0, len(t)])[0].mean(dtype=float) for t in tables]
            )
        expected = plain.map_of(np.array(scores))
        assert compared.map_of("gem + the default") == pytest.approx(expected, abs=0.005)


def test_expansions_after_qam(cutouts: Compared) -> None:
    plain = Plain(cutouts.material())
    tables = [pool(one, _pyramid(one), Pooling.GEM) for one in plain.maps()]
    photos = np.stack([gem(one) for one in plain.maps()])
    for expansion in (Expansion.AVERAGE, Expansion.ALPHA):
        scores = []
        for crop, question in zip(plain.crops(), plain.material.questions, strict=True):
            query = gem(crop)
            found = np.array([match(query, t.astype(np.float16)).score for t in tables])
            found[[one == question.own for one in plain.material.ranked]] = -1
            best = photos[np.argsort(-found, kind="stable")[:5]]
            scores.append(
                photos
                @ (
                    average(query, best)
                    if expansion is Expansion.AVERAGE
                    else alpha_weighted(query, best, alpha=2.0)
                )
            )
        expected = plain.map_of(np.array(scores))
        assert cutouts.map_of("gem + QAM (OSPP, gem)", expansion) == pytest.approx(expected)


def test_whole_photos_and_their_n_s(ukbench: Compared) -> None:
    plain = Plain(ukbench.material())
    photos = np.stack([gem(one) for one in plain.maps()])
    scores = photos @ photos.T
    assert ukbench.map_of("gem") == pytest.approx(plain.map_of(scores))
    (row,) = (row for row in ukbench.table.rows if row.method == "gem")
    assert row.ns == pytest.approx(
        np.mean([ns_score(plain.relevance(n, one)) for n, one in enumerate(scores)])
    )
    assert ukbench.table.passes == len(plain.material.ranked) == 8


def test_the_gem_row_is_what_evaluate_says(cutouts: Compared, ukbench: Compared) -> None:
    for compared in (cutouts, ukbench):
        settings = SearchSettings(method=Method.GLOBAL)
        request = EvaluateRequest(compared.folder, settings, FeatureSettings(size_px=SIZE_PX))
        report = evaluate(request, Ticket())
        assert compared.map_of("gem") == pytest.approx(report.map, abs=0.005)


def test_focus_figures_of_real_masks(cutouts: Compared) -> None:
    """Chance is the area of the masks, a tenth."""
    (row,) = (
        row
        for row in cutouts.table.rows
        if row.method == "gem + QAM (OSPP, gem)" and row.expansion is Expansion.NONE
    )
    assert row.pointing is not None
    assert row.pointing > 0.5
    assert row.iou is not None
    assert 0.2 < row.iou < 1.0


def test_a_second_run_uses_the_maps_again(cutouts: Compared) -> None:
    again = _compared(cutouts.folder)
    assert (cutouts.table.passes > 0, again.table.passes) == (True, 0)
    assert [row.map for row in again.table.rows] == [row.map for row in cutouts.table.rows]
