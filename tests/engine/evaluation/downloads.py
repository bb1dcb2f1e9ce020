"""The Oxford and Paris sets as they are downloaded, in small and with any photos."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

QUERY = "oxc1_all_souls_000013 136.5 34.1 648.5 955.7\n"


def write_original(
    folder: Path,
    *,
    name: str = "all_souls_1",
    query: str = QUERY,
    good: Sequence[str] = ("all_souls_000013", "all_souls_000026"),
    ok: Sequence[str] = ("oxford_002985",),
    junk: Sequence[str] = ("oxford_003410",),
) -> None:
    """The four text files of one query."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}_query.txt").write_text(query)
    for kind, names in (("good", good), ("ok", ok), ("junk", junk)):
        (folder / f"{name}_{kind}.txt").write_text("".join(f"{one}\n" for one in names))


def gnd(**changes: object) -> dict[str, Any]:
    """What gnd_roxford5k.pkl holds, for two queries among five photos."""
    first = {"bbx": [10.5, 20.0, 110.5, 220.0], "easy": [0], "hard": [2], "junk": [3], **changes}
    second = {"bbx": [0, 0, 5, 5], "easy": [], "hard": [4], "junk": []}
    names = [f"all_souls_{n:06d}" for n in range(5)]
    return {"imlist": names, "qimlist": ["oxford_000001", "oxford_000002"], "gnd": [first, second]}


def touch_photos(folder: Path, names: Sequence[str]) -> None:
    """Files that need not be photos as long as nobody opens them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.jpg").touch()


def copy_photos(source: Path, folder: Path, named: Mapping[str, str]) -> None:
    """Real photos under the names that the ground truth gives them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, original in named.items():
        shutil.copy2(source / original, folder / f"{name}.jpg")
