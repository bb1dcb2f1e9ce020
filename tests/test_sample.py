"""The sample album: what is committed is what the script renders, and a search of it is fair."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.evaluation.groundtruth import GroundTruth
from engine.evaluation.metrics import mask_of
from engine.evaluation.reading import read
from engine.types import Size
from installer.sample.outline import polygons

_ROOT = Path(__file__).resolve().parent.parent
_ALBUM = _ROOT / "assets" / "sample"
_ICONS = _ROOT / "assets" / "icons"
_RENDERED = ("cactus-window", "busker")


@pytest.fixture(scope="module")
def truth() -> GroundTruth:
    return read(_ALBUM)


def test_the_album_is_as_large_as_it_may_be(truth: GroundTruth) -> None:
    photos = sorted(path.name for path in _ALBUM.glob("*.jpg"))
    assert photos == sorted(truth.photos)
    assert 45 <= len(photos) <= 60
    assert sum(path.stat().st_size for path in _ALBUM.iterdir()) <= 3_000_000
    for name in photos:
        with Image.open(_ALBUM / name) as photo:
            assert sorted(photo.size) == [675, 900]


def test_every_thing_is_in_four_other_photos_or_more(truth: GroundTruth) -> None:
    things = {frozenset((query.photo, *query.positives, *query.junk)) for query in truth.queries}
    assert len(things) >= 8
    assert all(len(query.positives) >= 4 for query in truth.queries)
    shown = frozenset().union(*things)
    assert len(truth.photos) - len(shown) >= 4  # some photos show none of the things


def test_boxes_and_outlines_lie_in_their_photos(truth: GroundTruth) -> None:
    sizes = {}
    for name in truth.photos:
        with Image.open(_ALBUM / name) as photo:
            sizes[name] = Size(*photo.size)
    for query in truth.queries:
        size = sizes[query.photo]
        assert query.box is not None
        assert query.box.within(size) == query.box
        assert set(query.masks) == set(query.positives)
        for name, outlines in query.masks.items():
            share = mask_of(outlines, sizes[name]).mean()
            assert 0.004 < share < 0.5, f"{name}: {share}"


def test_an_outline_gives_its_mask_back() -> None:
    y, x = np.mgrid[0:120, 0:160]
    disc = (x - 60) ** 2 + (y - 50) ** 2 < 40**2
    block = (x > 110) & (x < 150) & (y > 80) & (y < 110)
    mask = disc | block
    outlines = polygons(mask)
    assert len(outlines) == 2
    again = mask_of([tuple((x, y) for x, y in line) for line in outlines], Size(160, 120))
    border_px = 2 * np.pi * 40 + 2 * (39 + 29)
    assert (again != mask).sum() < 0.6 * border_px  # half a pixel is the rasteriser's own


def test_the_script_renders_the_committed_photos(tmp_path: Path) -> None:
    """The same bytes where floating point and JPEG encoder agree, else the same picture."""
    subprocess.run(
        [sys.executable, "-m", "installer.sample", "--to", tmp_path, "--only", *_RENDERED],
        cwd=_ROOT,
        check=True,
        capture_output=True,
    )
    for name in _RENDERED:
        made, kept = tmp_path / f"{name}.jpg", _ALBUM / f"{name}.jpg"
        if made.read_bytes() == kept.read_bytes():
            continue
        with Image.open(made) as first, Image.open(kept) as second:
            away = np.abs(np.array(first, dtype=np.float32) - np.array(second))
        assert away.mean() < 1.5
        assert np.percentile(away, 99) < 16


def test_the_truth_is_told_once(truth: GroundTruth) -> None:
    """Two queries for one thing agree on where it is."""
    outlines = defaultdict(set)
    content = json.loads((_ALBUM / "gt.json").read_text(encoding="utf-8"))
    for query in content["queries"]:
        thing = frozenset((query["photo"], *query["positives"], *query["junk"]))
        for name, mask in query["masks"].items():
            outlines[thing, name].add(json.dumps(mask))
    assert all(len(versions) == 1 for versions in outlines.values())


def test_the_icon_holds_every_size() -> None:
    with Image.open(_ICONS / "app.ico") as icon:
        assert {16, 32, 256} <= {width for width, _ in icon.info["sizes"]}
    with Image.open(_ICONS / "app.png") as picture:
        assert picture.size == (256, 256)
        assert picture.getchannel("A").getpixel((0, 0)) == 0
        assert picture.getchannel("A").getpixel((128, 128)) == 255
