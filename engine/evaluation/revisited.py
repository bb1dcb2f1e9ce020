"""ROxford5k and RParis6k as they are downloaded: ``gnd_roxford5k.pkl``, ``gnd_rparis6k.pkl``.

    {"imlist": [...], "qimlist": [...],
     "gnd": [{"bbx": [x1, y1, x2, y2], "easy": [...], "hard": [...], "junk": [...]}, ...]}

``imlist`` is ranked and ``qimlist`` asks, both names of photo files without suffix; easy, hard and
junk are places in ``imlist``. The same as JSON (``.json``) is read too. The pickle is read as data,
see `engine.pickled.reading`.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from engine.errors import GroundTruthError
from engine.evaluation.checks import as_object, box_of_corners, demand, names, shown
from engine.evaluation.files import PhotoFiles
from engine.evaluation.groundtruth import GroundTruth, Protocol, TruthQuery
from engine.pickled.reading import loads
from engine.pickled.words import PickleRefusedError

_SETS = ("roxford5k", "rparis6k")
_LARGEST_BYTES = 16 * 2**20  # the real ones have less than a tenth of it


def gnd_files(folder: Path) -> list[Path]:
    """The files of this form in a folder; none: it is no such set."""
    named = [folder / f"gnd_{name}.{kind}" for name in _SETS for kind in ("pkl", "json")]
    return [path for path in named if path.is_file()]


def read_revisited(folder: Path, path: Path) -> GroundTruth:
    """The ground truth in this file; the photos of its ``imlist`` are ranked.

    Raises:
        GroundTruthError: the file is damaged, holds what is not plain data, or does not say what
            an evaluation needs; or a photo is missing.
    """
    files = PhotoFiles(folder)
    try:
        return _truth(_content(path), path, files, folder)
    except GroundTruthError as error:
        raise GroundTruthError(f"{path}: {error.reason}") from None


def _content(path: Path) -> object:
    try:
        demand(path.stat().st_size <= _LARGEST_BYTES, "it is too large for a ground truth")
        data = path.read_bytes()
        return json.loads(data) if path.suffix == ".json" else loads(data)
    except PickleRefusedError as error:
        raise GroundTruthError(str(error)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise GroundTruthError(f"it cannot be read: {error}") from error


def _truth(content: object, path: Path, files: PhotoFiles, folder: Path) -> GroundTruth:
    table = as_object(content, "the whole")
    listed = names(_sequence(table.get("imlist"), "imlist"), "imlist")
    asking = _sequence(table.get("qimlist"), "qimlist")
    queries = _sequence(table.get("gnd"), "gnd")
    demand(bool(listed) and bool(queries), "it needs photos and queries")
    demand(len(asking) == len(queries), "qimlist and gnd differ in length")
    found = files.named((*listed, *(one for name in asking for one in names([name], "qimlist"))))
    photos = tuple(found[name] for name in listed)
    return GroundTruth(
        name=path.stem.removeprefix("gnd_"),
        folder=folder,
        photos=photos,
        queries=tuple(
            _query(one, f"query {n}", found[str(asking[n])], photos)
            for n, one in enumerate(queries)
        ),
        protocol=Protocol.REVISITED,
    )


def _query(content: object, where: str, photo: str, photos: tuple[str, ...]) -> TruthQuery:
    table = as_object(content, where)
    easy, hard, junk = (
        tuple(photos[place] for place in _places(table.get(kind), f"{where}: {kind}", len(photos)))
        for kind in ("easy", "hard", "junk")
    )
    return TruthQuery(
        photo=photo,
        box=box_of_corners(_sequence(table.get("bbx"), f"{where}: bbx"), where),
        positives=tuple(dict.fromkeys(easy + hard)),
        junk=junk,
        easy=easy,
        hard=hard,
    )


def _places(content: object, where: str, count: int) -> Iterable[int]:
    """Places in a list of ``count``, each once."""
    places: dict[int, None] = {}
    for place in _sequence(content, where):
        if type(place) is not int or not 0 <= place < count:
            raise GroundTruthError(f"{where}: {shown(place)} is no place in imlist")
        places[place] = None
    return places


def _sequence(content: object, where: str) -> list[object]:
    """A list, a tuple or an array, as a list of Python's own values."""
    if isinstance(content, np.ndarray):
        return list(content.ravel().tolist())
    if not isinstance(content, list | tuple):
        raise GroundTruthError(f"{where} must be a list")
    return list(content)
