"""What is remembered between a search and the focus maps of its hits."""

import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config import FeatureSettings, Method, Solver
from engine.errors import SettingsError
from engine.types import FloatArray

if TYPE_CHECKING:  # loading it loads scipy
    from engine.rank.qam import Merge

_REMEMBERED = 32


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuery:
    """A query that was answered: ``descriptor`` (D,) of unit length, the ``features`` that it met,
    how, and the merge of each photo id that was re-ranked."""

    descriptor: FloatArray
    features: FeatureSettings
    method: Method
    solver: Solver
    merges: "Mapping[int, Merge]"


class AskedQueries:
    """The newest queries by their token; the oldest is forgotten. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: OrderedDict[str, AskedQuery] = OrderedDict()

    def remember(self, query: AskedQuery) -> str:
        """Keep a query; its token."""
        token = uuid.uuid4().hex
        with self._lock:
            self._asked[token] = query
            while len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
        return token

    def recall(self, token: str) -> AskedQuery:
        """The query of a token.

        Raises:
            SettingsError: it was forgotten, or never asked.
        """
        with self._lock:
            try:
                return self._asked[token]
            except KeyError:
                raise SettingsError("this search is too long ago: search again") from None
