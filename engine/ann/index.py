"""The one protocol of nearest neighbour search by cosine."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.types import FloatArray, HalfArray

Rows = NDArray[np.int64]
Vectors: TypeAlias = "FloatArray | HalfArray"


class Index(Protocol):
    """Finds the rows of a table of unit vectors that are nearest to a unit query. Immutable and
    safe to use from many threads."""

    @property
    def kind(self) -> str:
        """ "exact" or "hnsw"."""

    def __len__(self) -> int:
        """How many rows it holds."""

    def search(self, query: FloatArray, k: int) -> tuple[Rows, FloatArray]:
        """The nearest rows, best first, and their cosines.

        Args:
            query: (D,) of unit length.
            k: how many; more than there are means all.

        Returns:
            (n,) rows and (n,) cosines, n ≤ k; equal cosines in the order of their rows.
        """


@dataclass(frozen=True, slots=True, eq=False)
class IndexChoice:
    """An index, and in one line why this kind."""

    index: Index
    reason: str


def best_first(rows: Rows, cosines: FloatArray, k: int) -> tuple[Rows, FloatArray]:
    """The k best of some rows, ordered as `Index.search` promises."""
    order = np.lexsort((rows, -cosines))[:k]
    return rows[order], cosines[order]
