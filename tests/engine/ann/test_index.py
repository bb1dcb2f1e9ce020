"""Both kinds of index behind the one protocol."""

import importlib.util
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.ann.choice import open_index
from engine.ann.exact import ExactIndex
from engine.ann.hnsw import HnswIndex, add_rows, new_graph
from engine.ann.index import Index
from engine.config import HnswSettings
from engine.jobs import Cancelled, Ticket
from engine.types import FloatArray

needs_hnswlib = pytest.mark.skipif(
    importlib.util.find_spec("hnswlib") is None, reason="hnswlib is not installed"
)
SETTINGS = HnswSettings(from_rows=200)
DIM = 24


def unit_rows(count: int, *, seed: int = 0) -> FloatArray:
    rows = np.random.default_rng(seed).gamma(0.4, size=(count, DIM)).astype(np.float32)
    unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def graph_over(vectors: FloatArray, *, rows: int) -> HnswIndex:
    graph = new_graph(DIM, rows=rows, settings=SETTINGS)
    add_rows(graph, vectors[:rows], Ticket())
    return HnswIndex(graph, vectors)


def exact(vectors: FloatArray) -> Index:
    return ExactIndex(vectors)


def hnsw(vectors: FloatArray) -> Index:
    return graph_over(vectors, rows=max(1, len(vectors) - 30))


KINDS = [exact, pytest.param(hnsw, marks=needs_hnswlib)]


@pytest.mark.parametrize("make", KINDS)
def test_finds_what_a_full_sort_finds(make: Callable[[FloatArray], Index]) -> None:
    vectors = unit_rows(1_500)
    index = make(vectors)
    found = 0
    for query in unit_rows(40, seed=1):
        rows, cosines = index.search(query, 10)
        truth = np.argsort(-(vectors @ query), kind="stable")[:10]
        found += len(set(rows.tolist()) & set(truth.tolist()))
        np.testing.assert_allclose(cosines, vectors[rows] @ query, rtol=1e-5)
        assert (np.diff(cosines) <= 0).all()
    assert found >= 0.98 * 400


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("k", [0, 1, 299, 300, 10_000])
def test_as_many_as_asked_or_all(make: Callable[[FloatArray], Index], k: int) -> None:
    vectors = unit_rows(300)
    rows, cosines = make(vectors).search(vectors[7], k)
    assert len(rows) == len(cosines) == min(k, 300)
    assert len(set(rows.tolist())) == len(rows)
    if k:
        assert rows[0] == 7


@pytest.mark.parametrize("make", KINDS)
def test_copies_come_in_the_order_of_their_rows(make: Callable[[FloatArray], Index]) -> None:
    vectors = unit_rows(400)
    vectors[[20, 200, 399]] = vectors[20]
    rows, _ = make(vectors).search(vectors[20], 3)
    assert rows.tolist() == [20, 200, 399]


def test_an_empty_table_has_an_index() -> None:
    choice = open_index(
        unit_rows(0), cache=None, fingerprint="k", settings=SETTINGS, ticket=Ticket()
    )
    rows, cosines = choice.index.search(unit_rows(1)[0], 5)
    assert len(rows) == len(cosines) == len(choice.index) == 0


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_exact_is_a_stable_sort(count: int, k: int, seed: int) -> None:
    vectors = np.round(unit_rows(count, seed=seed), 1)  # rounded: many cosines tie
    query = unit_rows(1, seed=seed + 1)[0]
    rows, _ = ExactIndex(vectors).search(query, k)
    cosines = vectors @ query
    assert rows.tolist() == np.lexsort((np.arange(count), -cosines))[:k].tolist()


@needs_hnswlib
@pytest.mark.parametrize("rows", [199, 200])
def test_a_graph_from_the_named_number_of_rows_on(rows: int) -> None:
    choice = open_index(
        unit_rows(rows), cache=None, fingerprint="k", settings=SETTINGS, ticket=Ticket()
    )
    assert choice.index.kind == ("exact" if rows < 200 else "hnsw")
    assert choice.reason.startswith(choice.index.kind)


def test_without_hnswlib_search_is_exact_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    choice = open_index(
        unit_rows(300), cache=None, fingerprint="k", settings=SETTINGS, ticket=Ticket()
    )
    assert choice.index.kind == "exact"
    assert "hnswlib" in choice.reason


@needs_hnswlib
def test_report_34_one_row_more_is_found_without_a_new_graph() -> None:
    vectors = unit_rows(301)
    ticket = Ticket()
    before = open_index(
        vectors[:300], cache=None, fingerprint="k", settings=SETTINGS, ticket=ticket
    ).index
    after = open_index(
        vectors, cache=None, fingerprint="k", settings=SETTINGS, ticket=ticket, before=before
    ).index
    assert isinstance(before, HnswIndex)
    assert isinstance(after, HnswIndex)
    assert after.graph is before.graph
    assert len(before) == 300
    assert after.search(vectors[300], 1)[0].tolist() == [300]
    assert 300 not in before.search(vectors[300], 300)[0]


@needs_hnswlib
def test_building_stops_when_asked() -> None:
    ticket = Ticket()
    ticket.cancel()
    with pytest.raises(Cancelled):
        open_index(unit_rows(300), cache=None, fingerprint="k", settings=SETTINGS, ticket=ticket)


@needs_hnswlib
def test_a_graph_that_finds_no_memory_leaves_exact_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("Not enough memory")

    monkeypatch.setattr("engine.ann.choice.new_graph", refuse)
    vectors = unit_rows(300)
    choice = open_index(vectors, cache=None, fingerprint="k", settings=SETTINGS, ticket=Ticket())
    assert choice.index.kind == "exact"
    assert "Not enough memory" in choice.reason
    assert choice.index.search(vectors[7], 1)[0].tolist() == [7]


@needs_hnswlib
def test_a_library_of_copies_still_answers() -> None:
    """Hundreds of equal vectors tie a graph up in itself; whatever it reaches, k rows come back."""
    vectors = unit_rows(700)
    vectors[50:450] = vectors[50]
    index = graph_over(vectors, rows=600)
    for k in (1, 20, 140):
        rows, cosines = index.search(vectors[50], k)
        assert len(rows) == k
        assert np.allclose(cosines, 1, atol=1e-5)
        rows, _ = index.search(vectors[3], k)
        assert rows[0] == 3
        assert len(rows) == k


@needs_hnswlib
def test_recall_of_a_graph_as_it_is_shipped() -> None:
    """From 5,000 rows on; the 100 best of 30 queries, whose vectors lie as close together as
    descriptors of photos do."""
    shipped = HnswSettings()
    rows = np.random.default_rng(5).gamma(0.4, size=(shipped.from_rows + 200, 96))
    vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    choice = open_index(
        vectors[:-200], cache=None, fingerprint="k", settings=shipped, ticket=Ticket()
    )
    assert choice.index.kind == "hnsw"
    truth = ExactIndex(vectors[:-200])
    found = sum(
        len(
            set(choice.index.search(query, 100)[0].tolist())
            & set(truth.search(query, 100)[0].tolist())
        )
        for query in vectors[-30:]
    )
    assert found >= 0.97 * 3_000
