"""Folders of finished classes: made under a draft's name, renamed when complete."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from installer.sample.truth import appearance
from installer.training_pictures.views import View

TRUTH = "things.json"
SOURCES = "SOURCES.md"

_NOTES = "views.json"  # of one class, in the cache folder
_DRAFT = "draft."


def finished(out: Path, notes: Path, name: str) -> bool:
    return (out / name).is_dir() and (notes / f"{name}.json").is_file()


def written(
    out: Path, notes: Path, name: str, views: Iterable[View], *, source: str,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """The class ``name``: a JPEG for each view, and what they show beside the folder in
    ``notes``. A class is there whole or not at all."""
    draft = notes / (_DRAFT + name)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    seen: dict[str, dict[str, object]] = {}
    for index, view in enumerate(views):
        file = f"{index + 1:03d}-{view.kind}.jpg"
        quality = 92 if view.kind == "photo" else int(rng.integers(40, 94))
        view.picture.save(draft / file, "JPEG", quality=quality)
        seen[f"{name}/{file}"] = {"source": source, "kind": view.kind, **_appearance(view)}
    shutil.rmtree(out / name, ignore_errors=True)
    note = notes / f"{name}.json"
    note.unlink(missing_ok=True)
    draft.replace(out / name)
    _put(note, json.dumps(seen, separators=(",", ":")))


def _appearance(view: View) -> dict[str, object]:
    if view.mask is None:
        return {}
    found = appearance(view.mask)
    if found is None:
        return {}
    return {
        "box": list(found.box),
        "masks": found.polygons,
        "share": round(float(view.mask.mean()), 4),
    }


def truth(out: Path, notes: Path, names: Iterable[str]) -> int:
    """Writes TRUTH: for each picture its class, source, kind and, where one thing is meant, its box
    (x, y, width, height), polygons and visible share. Gives the number of pictures."""
    photos: dict[str, object] = {}
    for name in names:
        photos |= json.loads((notes / f"{name}.json").read_text(encoding="utf-8"))
    whole = {"name": "training pictures", "licences": SOURCES, "photos": photos}
    _put(out / TRUTH, json.dumps(whole, separators=(",", ":")) + "\n")
    return len(photos)


def sources(out: Path, *, package: str, groceries_licence: str, arts: Iterable[str]) -> None:
    """Writes SOURCES: where everything in the pictures comes from, and under which licence."""
    listed = "\n".join(f"- {each}" for each in arts)
    text = f"""# Where these pictures come from

Composed by `python -m installer.training_pictures` of Refocal (Apache-2.0). The pictures hold:

- clip art of {package}: public domain (Creative Commons Public Domain Dedication);
- photos of the alphabetically first half of the products of GroceryStoreDataset: MIT, below;
- rooms, surfaces and labels that Refocal renders itself: Apache-2.0.

## The groceries' licence

{groceries_licence.strip()}

## The clip arts that are classes

{listed}
"""
    _put(out / SOURCES, text)


def _put(path: Path, text: str) -> None:
    draft = path.with_name(_DRAFT + path.name)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
