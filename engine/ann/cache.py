"""The file that spares building a graph anew. Never trusted: it can be thrown away at any time.

hnswlib crashes on a damaged file instead of refusing it, so a file is given to it only if the note
beside it knows the file's checksum, and names the same numbers and settings.
"""

import contextlib
import hashlib
import json
import logging
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from engine.ann.index import Vectors
from engine.config import HnswSettings

_log = logging.getLogger(__name__)

_SAMPLED_ROWS = 64


class GraphCache:
    """One graph in one folder: the file, and a note on what it holds."""

    def __init__(self, folder: Path, *, fingerprint: str, settings: HnswSettings) -> None:
        """``fingerprint``: names the numbers that the graph is made of, a network key."""
        self._graph = folder / "graph.hnsw"
        self._note = folder / "graph.json"
        self._fingerprint = fingerprint
        self._settings = settings

    def load(self, vectors: Vectors, *, room: int) -> Any | None:  # noqa: ANN401
        """The graph, if it is whole and holds the first rows of ``vectors``; else None.

        ``room``: for how many rows in all.
        """
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            rows = int(note["rows"])
            if rows > len(vectors) or note != self._described(vectors[:rows], note["checksum"]):
                return None
            if _checksum(self._graph) != note["checksum"]:
                _log.warning("the index file is damaged and is built anew: %s", self._graph)
                return None
            return self._read(vectors.shape[1], room=max(room, rows))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            _log.warning("the index file cannot be used and is built anew: %s", error)
            return None

    def save(self, graph: Any, vectors: Vectors) -> None:  # noqa: ANN401
        """Keep a graph over ``vectors``. A disk that takes no file costs time at the next start,
        nothing else."""
        try:
            self._graph.parent.mkdir(parents=True, exist_ok=True)
            # The note goes first: between the two renames there is a graph that nobody trusts.
            self._note.unlink(missing_ok=True)
            checksum = _written(self._graph, lambda path: graph.save_index(str(path)))
            note = json.dumps(self._described(vectors, checksum))
            _written(self._note, lambda path: path.write_text(note, encoding="utf-8"))
        except (OSError, RuntimeError, ValueError) as error:  # a path that is no text, too
            _log.warning("the index file could not be kept: %s", error)

    def _read(self, dim: int, *, room: int) -> Any:  # noqa: ANN401
        import hnswlib

        graph = hnswlib.Index(space="ip", dim=dim)
        graph.load_index(str(self._graph), max_elements=room)
        graph.set_ef(self._settings.ef_search)
        return graph

    def _described(self, vectors: Vectors, checksum: str) -> dict[str, object]:
        """What a note says of a graph over these rows."""
        sampled = np.linspace(0, max(len(vectors) - 1, 0), _SAMPLED_ROWS).astype(np.int64)
        taken = np.ascontiguousarray(vectors[sampled]) if len(vectors) else vectors
        return {
            "fingerprint": self._fingerprint,
            "settings": asdict(self._settings),
            "rows": len(vectors),
            "sample": hashlib.blake2b(taken.tobytes(), digest_size=16).hexdigest(),
            "checksum": checksum,
        }


def _written(target: Path, write: Callable[[Path], object]) -> str:
    """Write under a temporary name, to the disk, then rename. The checksum of what was written."""
    temporary = target.with_name(target.name + ".new")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        checksum = _checksum(temporary)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return checksum


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
