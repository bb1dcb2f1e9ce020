"""Oxford5k and Paris6k as they are downloaded: four text files for each query.

``all_souls_1_query.txt`` holds the photo that asks, with Oxford's prefix ``oxc1_``, and the box as
x1 y1 x2 y2; ``_good``, ``_ok`` and ``_junk`` list photos, one a line. They lie in the folder itself
or in one folder inside it; names are those of the photo files without suffix.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.errors import GroundTruthError
from engine.evaluation.checks import box_of_corners, demand, text_of
from engine.evaluation.files import PhotoFiles
from engine.evaluation.groundtruth import GroundTruth, Protocol, TruthQuery
from engine.types import Box

_ENDING = "_query.txt"
_PREFIX = "oxc1_"


def query_files(folder: Path) -> list[Path]:
    """The files that ask, in the order of their names; none: it is no such set."""
    return sorted(folder.glob(f"*{_ENDING}")) or sorted(folder.glob(f"*/*{_ENDING}"))


def read_original(folder: Path, asking: Sequence[Path]) -> GroundTruth:
    """The ground truth of these query files; every photo file of the folder is ranked.

    Raises:
        GroundTruthError: a file or a photo is missing, or a query does not say what is asked.
    """
    files = PhotoFiles(folder)
    return GroundTruth(
        name=folder.name,
        folder=folder,
        photos=files.all,
        queries=tuple(_query(path, files) for path in asking),
        protocol=Protocol.ORIGINAL,
    )


def _query(path: Path, files: PhotoFiles) -> TruthQuery:
    photo, box = _question(path)
    good, ok, junk = (
        _listed(path.with_name(path.name.removesuffix(_ENDING) + f"_{kind}.txt"))
        for kind in ("good", "ok", "junk")
    )
    found = files.named((photo, *good, *ok, *junk))
    return TruthQuery(
        photo=found[photo],
        box=box,
        # The files name a photo twice here and there.
        positives=tuple(dict.fromkeys(found[name] for name in (*good, *ok))),
        junk=tuple(dict.fromkeys(found[name] for name in junk)),
    )


def _question(path: Path) -> tuple[str, Box]:
    parts = text_of(path).split()
    demand(len(parts) == 5, f"{path} must have a photo and four numbers")
    try:
        corners = [float(part) for part in parts[1:]]
    except ValueError as error:
        raise GroundTruthError(f"{path} must have a photo and four numbers: {error}") from error
    return parts[0].removeprefix(_PREFIX), box_of_corners(corners, str(path))


def _listed(path: Path) -> list[str]:
    return text_of(path).split()
