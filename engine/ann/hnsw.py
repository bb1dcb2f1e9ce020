"""Approximate search: a hierarchical navigable small world graph, by hnswlib.

A graph holds the first rows of a table. Rows that were appended since are compared one by one,
until they are so many that a graph with them is built: publishing a few new photos costs nothing,
and a graph in use is never changed (hnswlib locks no reads).
"""

from typing import Any

import numpy as np

from engine.ann.exact import ExactIndex
from engine.ann.index import Rows, Vectors, best_first
from engine.config import HnswSettings
from engine.jobs import Ticket
from engine.types import FloatArray

_ADD_ROWS = 2_000  # rows added between two looks at the ticket
_MOST_OF_IT = 4  # from this part of the graph on, comparing with every row is no slower


class HnswIndex:
    """A graph over the first rows, exact search over the rest."""

    kind = "hnsw"

    def __init__(self, graph: Any, vectors: Vectors) -> None:  # noqa: ANN401 - untyped library
        """``graph``: an hnswlib.Index over the first rows of ``vectors``, (N, D) unit rows."""
        self.graph = graph
        self._vectors = vectors
        self._rest = ExactIndex(vectors[self.graph_rows :])

    @property
    def graph_rows(self) -> int:
        """How many rows the graph holds."""
        return int(self.graph.get_current_count())

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: FloatArray, k: int) -> tuple[Rows, FloatArray]:
        """See `engine.ann.index.Index.search`. The graph names rows, the vectors give cosines."""
        count = min(max(k, 0), len(self))
        if count * _MOST_OF_IT >= self.graph_rows:
            return ExactIndex(self._vectors).search(query, count)
        try:
            labels, _ = self.graph.knn_query(query[None], k=count, num_threads=1)
        except RuntimeError:  # a graph that falls apart does not reach so many
            return ExactIndex(self._vectors).search(query, count)
        near = np.sort(labels[0].astype(np.int64))  # in the order of a memory-mapped file
        rest, rest_cosines = self._rest.search(query, count)
        rows = np.concatenate([near, rest + self.graph_rows])
        return best_first(rows, np.concatenate([self._vectors[near] @ query, rest_cosines]), count)


def new_graph(dim: int, *, rows: int, settings: HnswSettings) -> Any:  # noqa: ANN401
    """An empty graph with room for ``rows``."""
    import hnswlib

    graph = hnswlib.Index(space="ip", dim=dim)
    graph.init_index(
        max_elements=rows, M=settings.m, ef_construction=settings.ef_construction, random_seed=1
    )
    graph.set_ef(settings.ef_search)
    return graph


def add_rows(graph: Any, vectors: Vectors, ticket: Ticket) -> None:  # noqa: ANN401
    """Add the rows of ``vectors`` that the graph does not hold yet.

    Raises:
        Cancelled: asked for; the graph is of no use then.
    """
    first = int(graph.get_current_count())
    if first == len(vectors):
        return
    graph.resize_index(max(len(vectors), graph.get_max_elements()))
    for start in range(first, len(vectors), _ADD_ROWS):
        ticket.update("building the index", start, len(vectors))
        rows = np.arange(start, min(start + _ADD_ROWS, len(vectors)))
        graph.add_items(vectors[rows].astype(np.float32), rows)
    ticket.update("building the index", len(vectors), len(vectors))
