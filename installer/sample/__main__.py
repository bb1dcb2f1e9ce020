"""Renders the sample album: `python -m installer.sample [--to FOLDER] [--only NAME ...]`."""

import argparse
import io
import json
import logging
import sys
import zlib
from pathlib import Path

from PIL import Image

from installer.sample.album import house, outside, table
from installer.sample.album.shot import Shot
from installer.sample.render import Photograph, render
from installer.sample.truth import Appearance, appearance, ground_truth

SHOTS: tuple[Shot, ...] = (*table.SHOTS, *house.SHOTS, *outside.SHOTS)
_ALBUM = Path(__file__).resolve().parents[2] / "assets" / "sample"
_MOST_BYTES = 51_000  # a photo: the whole album stays below 3 MB
_log = logging.getLogger(__name__)


def photograph(shot: Shot) -> Photograph:
    return render(shot.stage(), seed=zlib.crc32(shot.name.encode()))


def jpeg(picture: Image.Image) -> bytes:
    """The best quality that fits."""
    best, worse, better = b"", 60, 92
    while better - worse > 1 or not best:
        quality = (worse + better) // 2
        stream = io.BytesIO()
        picture.save(stream, "JPEG", quality=quality, optimize=True, progressive=True)
        if stream.tell() <= _MOST_BYTES or quality == worse:
            best, worse = stream.getvalue(), quality
        else:
            better = quality
    return best


def _write(folder: Path, shots: tuple[Shot, ...]) -> dict[str, dict[str, Appearance]]:
    seen: dict[str, dict[str, Appearance]] = {}
    for index, shot in enumerate(shots):
        made = photograph(shot)
        path = folder / f"{shot.name}.jpg"
        path.write_bytes(jpeg(made.picture))
        found = {name: appearance(mask) for name, mask in made.masks.items()}
        seen[path.name] = {name: each for name, each in found.items() if each is not None}
        _log.info("%d of %d: %s", index + 1, len(shots), path.name)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m installer.sample", description=__doc__)
    parser.add_argument("--to", type=Path, default=_ALBUM, help="folder (default: the album's)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these photos, no gt.json")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    known = {shot.name for shot in SHOTS}
    if unknown := set(options.only or ()) - known:
        parser.error(f"no photo is called {', '.join(sorted(unknown))}")
    folder: Path = options.to
    folder.mkdir(parents=True, exist_ok=True)
    if options.only:
        _write(folder, tuple(shot for shot in SHOTS if shot.name in options.only))
        return 0
    seen = _write(folder, SHOTS)
    asks = [(f"{shot.name}.jpg", thing) for shot in SHOTS for thing in shot.asks]
    truth = json.dumps(ground_truth(seen, asks), separators=(",", ":"))
    (folder / "gt.json").write_text(truth + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
