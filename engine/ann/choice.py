"""Which index a table of vectors gets."""

import importlib
import logging
from pathlib import Path

from engine.ann.cache import GraphCache
from engine.ann.exact import ExactIndex
from engine.ann.hnsw import HnswIndex, add_rows, new_graph
from engine.ann.index import Index, IndexChoice, Vectors
from engine.config import HnswSettings
from engine.jobs import Ticket

_log = logging.getLogger(__name__)


def open_index(
    vectors: Vectors,
    *,
    cache: Path | None,
    fingerprint: str,
    settings: HnswSettings,
    ticket: Ticket,
    before: Index | None = None,
) -> IndexChoice:
    """The index of a table: exact for a small one, a graph from ``settings.from_rows`` on.

    Args:
        vectors: (N, D) unit rows, memory-mapped or not.
        cache: folder of the graph's file; None = nothing is read or kept.
        fingerprint: names the numbers in the table, a network key.
        before: the index of this table when it was shorter, if there was one: its graph goes on
            being used while few rows have come.

    Raises:
        Cancelled: while a graph was built.
    """
    if len(vectors) < settings.from_rows:
        return IndexChoice(
            ExactIndex(vectors),
            f"exact: {len(vectors):,} photos, fewer than {settings.from_rows:,}",
        )
    try:
        importlib.import_module("hnswlib")
    except ImportError as error:  # absent, or compiled for another machine
        return IndexChoice(ExactIndex(vectors), f"exact: hnswlib cannot be used ({error})")
    try:
        if isinstance(before, HnswIndex) and _enough(before.graph_rows, vectors, settings):
            graph = before.graph
        else:
            graph = _graph(vectors, cache, fingerprint, settings, ticket)
    except (RuntimeError, MemoryError) as error:  # hnswlib's own; a graph holds every vector
        _log.warning("no graph could be built: %s", error)
        return IndexChoice(ExactIndex(vectors), f"exact: no graph could be built ({error})")
    return IndexChoice(HnswIndex(graph, vectors), f"hnsw: a graph over {len(vectors):,} photos")


def _graph(
    vectors: Vectors,
    cache: Path | None,
    fingerprint: str,
    settings: HnswSettings,
    ticket: Ticket,
) -> object:
    """A graph over all or nearly all rows: the kept one, that one with more, or a new one."""
    kept = GraphCache(cache, fingerprint=fingerprint, settings=settings) if cache else None
    graph = kept.load(vectors, room=len(vectors)) if kept else None
    if graph is not None and _enough(graph.get_current_count(), vectors, settings):
        return graph
    if graph is None:
        graph = new_graph(vectors.shape[1], rows=len(vectors), settings=settings)
    add_rows(graph, vectors, ticket)
    if kept is not None:
        kept.save(graph, vectors)
    return graph


def _enough(graph_rows: int, vectors: Vectors, settings: HnswSettings) -> bool:
    """Whether the rows outside the graph are few enough to be compared one by one."""
    return len(vectors) - graph_rows < settings.from_rows
