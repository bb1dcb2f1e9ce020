"""From a query to a ranking, against the slow and plain way."""

from dataclasses import replace

import numpy as np
import pytest

from engine.config import Expansion, Method, SearchSettings, Solver
from engine.errors import SettingsError
from engine.jobs import Cancelled, Ticket
from engine.rank.qam import match
from engine.retrieval.matching import RankingQuery
from engine.retrieval.pipeline import Ranking, rank
from engine.retrieval.snapshot import Snapshot
from tests.engine.retrieval.conftest import DIM, PHOTOS, unit

QAM = SearchSettings(method=Method.QAM, shortlist=10)


def query(*, seed: int = 5, exclude: frozenset[int] = frozenset()) -> RankingQuery:
    vector = unit(np.random.default_rng(seed).gamma(0.5, size=(1, DIM)).astype(np.float32))[0]
    return RankingQuery(vector, vector[None], exclude)


def ranked(
    snapshot: Snapshot, settings: SearchSettings, asked: RankingQuery, top: int | None = None
) -> Ranking:
    return rank(asked, snapshot, settings, top=top, ticket=Ticket())


def test_global_is_the_order_of_cosines(snapshot: Snapshot) -> None:
    asked = query()
    ranking = ranked(snapshot, SearchSettings(method=Method.GLOBAL), asked)
    cosines = snapshot.descriptors @ asked.descriptor
    assert ranking.rows.tolist() == np.argsort(-cosines, kind="stable").tolist()
    np.testing.assert_array_equal(ranking.scores, ranking.global_scores)
    assert not ranking.merges


def test_auto_is_sparse_merging(snapshot: Snapshot) -> None:
    assert ranked(snapshot, SearchSettings(), query()).method is Method.SPARSE


@pytest.mark.parametrize("solver", list(Solver))
def test_the_shortlist_is_ordered_by_its_merges(snapshot: Snapshot, solver: Solver) -> None:
    asked = query()
    ranking = ranked(snapshot, replace(QAM, solver=solver), asked)
    first = ranked(snapshot, SearchSettings(method=Method.GLOBAL), asked)
    head = set(ranking.rows[:10].tolist())
    assert set(first.rows[:4].tolist()) <= head  # a third of the shortlist is the global one's
    assert ranking.rows[10:].tolist() == [r for r in first.rows.tolist() if r not in head]
    for row, score in zip(ranking.rows[:10].tolist(), ranking.scores[:10], strict=True):
        regions, _ = snapshot.regions_of(np.array([row]))
        assert match(asked.descriptor, regions).score == pytest.approx(score, abs=1e-5)
    assert (np.diff(ranking.scores[:10]) <= 0).all()
    np.testing.assert_allclose(
        ranking.global_scores, snapshot.descriptors[ranking.rows] @ asked.descriptor, rtol=1e-5
    )


def test_regions_of_several_photos_keep_apart(snapshot: Snapshot) -> None:
    rows = np.array([7, 0, 39])
    regions, starts = snapshot.regions_of(rows)
    for number, row in enumerate(rows.tolist()):
        alone, _ = snapshot.regions_of(np.array([row]))
        np.testing.assert_array_equal(regions[starts[number] : starts[number + 1]], alone)
        assert len(alone) == snapshot.table.region_count[row] == len(snapshot.boxes_of(row))


def test_what_is_excluded_is_not_found_and_costs_no_place(snapshot: Snapshot) -> None:
    best = ranked(snapshot, QAM, query()).rows[:4]
    exclude = frozenset(snapshot.table.photo_ids[best].tolist())
    ranking = ranked(snapshot, QAM, query(exclude=exclude), top=PHOTOS - 4)
    assert len(ranking.rows) == PHOTOS - 4
    assert not set(best.tolist()) & set(ranking.rows.tolist())
    assert len(ranking.merges) == 10


@pytest.mark.parametrize("top", [0, 1, 5, 1000])
def test_as_many_as_asked(snapshot: Snapshot, top: int) -> None:
    full = ranked(snapshot, QAM, query())
    cut = ranked(snapshot, QAM, query(), top=top)
    assert cut.rows.tolist() == full.rows[:top].tolist()


@pytest.mark.parametrize("expand", [Expansion.AVERAGE, Expansion.ALPHA])
def test_expansion_searches_again_with_the_best(snapshot: Snapshot, expand: Expansion) -> None:
    asked = query()
    plain = ranked(snapshot, QAM, asked)
    ranking = ranked(snapshot, replace(QAM, expand=expand, expand_top=3), asked)
    best = snapshot.descriptors[plain.rows[:3]]
    weights = (best @ asked.descriptor) ** 2 if expand is Expansion.ALPHA else np.ones(3)
    expanded = asked.descriptor + weights @ best
    cosines = snapshot.descriptors @ (expanded / np.linalg.norm(expanded))
    assert ranking.rows.tolist() == np.argsort(-cosines, kind="stable").tolist()
    assert ranking.merges.keys() == plain.merges.keys()
    np.testing.assert_allclose(
        ranking.global_scores, snapshot.descriptors[ranking.rows] @ asked.descriptor, rtol=1e-5
    )
    assert set(ranking.milliseconds) == {"shortlist", "rerank", "expand"}


def test_settings_out_of_range_are_refused(snapshot: Snapshot) -> None:
    for wrong in (
        {"shortlist": 0},
        {"query_scales": (0.0,)},
        {"query_scales": ()},
        {"expand_top": 0},
    ):
        with pytest.raises(SettingsError):
            ranked(snapshot, replace(SearchSettings(), **wrong), query())


def test_a_newer_search_stops_an_older_one(snapshot: Snapshot) -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        rank(query(), snapshot, QAM, top=None, ticket=ticket)
