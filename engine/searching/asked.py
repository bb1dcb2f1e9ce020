"""What is remembered between a search and the focus maps of its hits."""

import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config import FeatureSettings, SearchSettings
from engine.errors import SettingsError

if TYPE_CHECKING:  # loading it loads scipy
    from engine.retrieval.matching import RankingQuery

_REMEMBERED = 32


@dataclass(frozen=True, slots=True, eq=False)
class AskedQuery:
    """A query that was answered: what was ``looked_for`` (steering included), with which
    ``settings``, and the ``features`` of the photos that it met."""

    looked_for: "RankingQuery"
    settings: SearchSettings
    features: FeatureSettings


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
