"""Composed training pictures: repeatable, resumable, with true masks."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from engine.evaluation.metrics import mask_of
from engine.types import Size
from installer.training_pictures import write
from installer.training_pictures.backgrounds import Stock
from installer.training_pictures.classes import chance
from installer.training_pictures.compose import Made, Plan, compose
from installer.training_pictures.lighting import Lamp
from installer.training_pictures.places import from_picture
from installer.training_pictures.things import look, thing
from installer.training_pictures.views import SCENE_SHARES, View, close_up, in_scene
from installer.training_pictures.warp import drawn, homography, rectangle, tilted
from tests.installer.painted import clip_art_folder, grocery_folder, painted

_PLAN = Plan(things=2, solids=1, places=1, rooms=0, views=4, backdrops=0, surfaces=4, sprites=4)


def _made(sources: Path, out: Path, plan: Plan = _PLAN) -> Made:
    return compose(sources / "art", sources / "goods", out, plan)


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    clip_art_folder(folder / "art", 7)
    grocery_folder(folder / "goods")
    return folder


@pytest.fixture(scope="module")
def composed(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("composed") / "out"
    made = _made(sources, out)
    assert made == Made(classes=6, pictures=3 * 4 + 2 * (2 + 4) + 4)
    return out


def test_the_folder_has_a_class_for_each_thing_product_and_place(composed: Path) -> None:
    folders = sorted(path.name for path in composed.iterdir() if path.is_dir())
    assert [name.split("-")[0] for name in folders] == [
        "place",
        *["product"] * 2,
        "solid",
        *["thing"] * 2,
    ]
    assert folders[1:3] == ["product-Apple-Juice", "product-Oat-Milk"]  # the second half stays away
    for path in composed.rglob("*.jpg"):
        with Image.open(path) as picture:
            assert picture.mode == "RGB"
            assert max(picture.size) == 400 or path.name.endswith("photo.jpg")
    said = (composed / write.SOURCES).read_text(encoding="utf-8")
    assert "The licence of the groceries" in said
    assert said.count("animals/beast_") == 3


def test_the_truth_names_every_picture_and_fits_it(composed: Path) -> None:
    photos = json.loads((composed / write.TRUTH).read_text(encoding="utf-8"))["photos"]
    assert sorted(photos) == [name for name in _bytes(composed) if name.endswith(".jpg")]
    assert {each["kind"] for each in photos.values()} == {"scene", "close", "photo", "place"}
    for name, each in photos.items():
        if each["kind"] not in ("scene", "close"):
            assert "masks" not in each
            continue
        with Image.open(composed / name) as picture:
            size = Size(*picture.size)
        mask = mask_of(each["masks"], size)
        assert mask.mean() == pytest.approx(each["share"], rel=0.1, abs=0.003)
        x, y, width, height = each["box"]
        rows, columns = np.nonzero(mask)
        assert x <= columns.min()
        assert y <= rows.min()
        assert columns.max() < x + width <= size.w
        assert rows.max() < y + height <= size.h


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(
    sources: Path, composed: Path, tmp_path: Path
) -> None:
    _made(sources, tmp_path / "again")
    assert _bytes(tmp_path / "again") == _bytes(composed)
    _made(sources, tmp_path / "other", Plan(**{**_fields(_PLAN), "seed": 2}))
    same = _bytes(tmp_path / "other").keys() & _bytes(composed).keys()
    differing = [
        name
        for name in same
        if name.endswith(("scene.jpg", "place.jpg"))
        and _bytes(tmp_path / "other")[name] != _bytes(composed)[name]
    ]
    assert "place-0001/001-place.jpg" in differing


def _fields(plan: Plan) -> dict[str, int]:
    return {name: getattr(plan, name) for name in Plan.__dataclass_fields__}


def test_an_interrupted_run_goes_on_where_it_was(
    sources: Path, composed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    complete = write.written
    names: list[str] = []

    def ended(*args: object, **options: object) -> None:
        names.append(str(args[2]))
        if len(names) == 3:
            raise KeyboardInterrupt
        complete(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(write, "written", ended)
    with pytest.raises(KeyboardInterrupt):
        _made(sources, out)
    _made(sources, out)
    assert names[2:] == [names[2], *(each for each in names[3:])]
    assert len(names) == 3 + 4  # the two complete ones are not made again
    assert _bytes(out) == _bytes(composed)


def test_a_class_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def broken() -> Iterator[View]:
        yield View(Image.new("RGB", (40, 30)), None, "place")
        raise OSError("disk full")

    out, notes = tmp_path / "out", tmp_path / "notes"
    out.mkdir()
    rng = np.random.default_rng(1)
    with pytest.raises(OSError, match="disk full"):
        write.written(out, notes, "a", broken(), source="s", rng=rng)
    assert list(out.iterdir()) == []
    assert not write.finished(out, notes, "a")
    whole = iter([View(Image.new("RGB", (40, 30)), None, "place")])
    write.written(out, notes, "a", whole, source="s", rng=rng)
    assert write.finished(out, notes, "a")
    assert [path.name for path in (out / "a").iterdir()] == ["001-place.jpg"]


def test_a_folder_of_another_plan_is_refused(sources: Path, composed: Path) -> None:
    with pytest.raises(ValueError, match="another plan"):
        _made(sources, composed, Plan(**{**_fields(_PLAN), "views": 5}))


def test_too_few_clip_arts_are_refused(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="7 clip arts are fit, 11 are needed"):
        _made(sources, tmp_path / "out", Plan(**{**_fields(_PLAN), "things": 9}))


def _grey_stock() -> Stock:
    grey = Image.new("RGB", (384, 384), "#808080")
    block = Image.new("RGBA", (120, 90), "#505050")
    return Stock([grey], [grey], [block], ())


def _magenta(rng: np.random.Generator) -> Image.Image:
    picture = Image.new("RGBA", (200, 260))
    ImageDraw.Draw(picture).ellipse((0, 0, 199, 259), fill="#ff10ff")
    return picture


def test_masks_cover_what_is_seen_of_the_thing() -> None:
    overlaps, shares = [], []
    for seed in range(24):
        view = in_scene(_magenta, _grey_stock(), np.random.default_rng(seed))
        assert view.mask is not None
        pixels = np.asarray(view.picture, dtype=np.float32)
        purple = (pixels[..., 0] + pixels[..., 2]) / 2 - pixels[..., 1]
        seen = purple > np.median(purple[view.mask]) / 2
        overlaps.append((seen & view.mask).sum() / (seen | view.mask).sum())
        shares.append(view.mask.mean())
    assert np.quantile(overlaps, 0.2) > 0.85
    assert SCENE_SHARES[0] <= min(shares)
    assert max(shares) <= SCENE_SHARES[1]
    assert min(shares) < 0.06
    assert max(shares) > 0.25


def test_a_thing_close_by_fills_the_picture() -> None:
    for seed in range(8):
        view = close_up(_magenta, _grey_stock(), np.random.default_rng(seed))
        assert view.mask is not None
        assert view.mask.mean() > 0.25


@pytest.mark.parametrize("kind", ["figure", "card", "box", "can"])
def test_a_thing_looks_different_each_time_but_the_same_by_seed(kind: str) -> None:
    stuff = [Image.effect_noise((384, 384), 60).convert("RGB")]
    made = next(
        each
        for seed in range(100)
        if (each := thing(painted(3), stuff, np.random.default_rng(seed))).kind == kind
    )
    looks = []
    for seed in (1, 1, 2):
        rng = np.random.default_rng(seed)
        looks.append(look(made, Lamp.chance(rng), rng))
    assert looks[0].tobytes() == looks[1].tobytes()
    assert looks[0].tobytes() != looks[2].tobytes()
    alpha = np.asarray(looks[0])[..., 3] > 127
    assert alpha[[0, -1]].any() or alpha[:, [0, -1]].any()  # cut to its bounds
    assert alpha.mean() > 0.2
    assert 240 <= max(looks[0].size) <= 320


def test_a_box_shows_its_top_from_above() -> None:
    stuff = [Image.new("RGB", (384, 384), "#808080")]
    seeds = range(100)
    box = next(
        each
        for s in seeds
        if (each := thing(painted(3), stuff, np.random.default_rng(s))).kind == "box"
    )
    front, side, _ = box.faces
    marked = type(box)(
        box.kind,
        (
            Image.new("RGBA", front.size, "#ff0000"),
            Image.new("RGBA", side.size, "#00ff00"),
            Image.new("RGBA", (front.width, front.width // 2), "#0000ff"),
        ),
        box.normals, 0.0, box.depth,
    )  # fmt: skip
    above = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        pixels = np.asarray(look(marked, Lamp.chance(rng), rng)).astype(int)
        solid = pixels[..., 3] > 250
        colours = pixels[..., :3].argmax(axis=2)
        assert (solid & (colours == 0)).any()
        tops, fronts = np.argwhere(solid & (colours == 2)), np.argwhere(solid & (colours == 0))
        above += len(tops) > 0 and tops[:, 0].mean() < fronts[:, 0].mean()
    assert above >= 5  # not where it lies on its side, nor at its own height


def test_a_homography_takes_corners_to_corners() -> None:
    source = rectangle(100, 50)
    target = np.array([[10, 5], [90, 15], [80, 60], [5, 50]], dtype=np.float64)
    a, b, c, d, e, f, g, h = homography(source, target)
    for (x, y), expected in zip(source, target, strict=True):
        below = g * x + h * y + 1
        assert ((a * x + b * y + c) / below, (d * x + e * y + f) / below) == pytest.approx(expected)


def test_a_picture_is_drawn_onto_its_corners() -> None:
    sheet = Image.new("RGBA", (60, 40), "#00ff00")
    corners = rectangle(30, 20) + np.array([10, 25])
    mask = np.asarray(drawn(sheet, corners, (100, 80)).getchannel("A")) > 127
    rows, columns = np.nonzero(mask)
    assert (columns.min(), columns.max() + 1) == pytest.approx((10, 40), abs=1)
    assert (rows.min(), rows.max() + 1) == pytest.approx((25, 45), abs=1)


def test_a_tilted_picture_is_whole_and_cut_to_its_bounds() -> None:
    sheet = Image.new("RGBA", (120, 80), "#00ff00")
    for seed in range(8):
        made = tilted(sheet, np.random.default_rng(seed), yaw_deg=30, pitch_deg=20)
        alpha = np.asarray(made.getchannel("A")) > 127
        assert 0.6 * 120 * 80 < alpha.sum() < 1.6 * 120 * 80
        assert all(edge.any() for edge in (alpha[:3], alpha[-3:], alpha[:, :3], alpha[:, -3:]))


def test_each_class_has_its_own_chance() -> None:
    draws = {float(chance(*given).random()) for given in ((1, "a"), (1, "b"), (2, "a"), (1, "a"))}
    assert len(draws) == 3


def test_a_place_may_be_shown_whole() -> None:
    place = Image.new("RGB", (560, 420), "#4080c0")
    for seed in (63, 321, 1648):  # their crops are a rounding error larger than the place
        view = from_picture(place, np.random.default_rng(seed))
        assert max(view.picture.size) == 400
        assert view.mask is None
