"""Exact search: a cosine with every row. The truth that HNSW is measured against."""

import numpy as np

from engine.ann.index import Rows, Vectors, best_first
from engine.types import FloatArray

_BLOCK_ROWS = 16_384  # rows of a memory-mapped table that are read at a time


class ExactIndex:
    """Compares the query with every row; fast enough for tens of thousands."""

    kind = "exact"

    def __init__(self, vectors: Vectors) -> None:
        """``vectors``: (N, D) unit rows, memory-mapped or not; not copied."""
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: FloatArray, k: int) -> tuple[Rows, FloatArray]:
        """See `engine.ann.index.Index.search`."""
        cosines = self._cosines(query)
        count = min(max(k, 0), len(cosines))
        rows = np.arange(len(cosines))
        if 0 < count < len(cosines):
            # All that tie with the last one stay in, so that ties end in the order of rows.
            least = np.partition(cosines, -count)[-count]
            rows = np.flatnonzero(cosines >= least)
        return best_first(rows, cosines[rows], count)

    def _cosines(self, query: FloatArray) -> FloatArray:
        found = np.empty(len(self._vectors), dtype=np.float32)
        for first in range(0, len(found), _BLOCK_ROWS):
            block = self._vectors[first : first + _BLOCK_ROWS]
            found[first : first + len(block)] = block.astype(np.float32) @ query
        return found
