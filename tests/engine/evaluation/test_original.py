"""Oxford5k and Paris6k as they are downloaded."""

from pathlib import Path

import pytest

from engine.errors import GroundTruthError
from engine.evaluation.groundtruth import Answers, Protocol
from engine.evaluation.reading import read
from engine.types import Box
from tests.engine.evaluation.downloads import touch_photos, write_original

PHOTOS = (
    "all_souls_000013", "all_souls_000026", "oxford_002985", "oxford_003410", "bodleian_000001"
)  # fmt: skip


@pytest.mark.parametrize("photos", ["jpg", "jpg/all_souls", ".", "oxbuild_images"])
@pytest.mark.parametrize("lists", [".", "gt_files_170407"])
def test_reads_a_download(tmp_path: Path, photos: str, lists: str) -> None:
    touch_photos(tmp_path / photos, PHOTOS)
    write_original(tmp_path / lists)
    truth = read(tmp_path)
    below = "" if photos == "." else f"{photos}/"
    assert truth.protocol is Protocol.ORIGINAL
    assert sorted(truth.photos) == sorted(f"{below}{name}.jpg" for name in PHOTOS)
    (query,) = truth.queries
    assert query.photo == f"{below}all_souls_000013.jpg"
    assert query.box == Box(136.5, 34.1, 512.0, pytest.approx(921.6))  # type: ignore[arg-type]
    assert truth.answers(query) == {
        "original": Answers(
            tuple(f"{below}{name}.jpg" for name in PHOTOS[:3]), (f"{below}oxford_003410.jpg",)
        )
    }


def test_names_of_paris_have_no_prefix_and_may_come_twice(tmp_path: Path) -> None:
    touch_photos(tmp_path / "jpg", ["paris_defense_000605", "b", "c"])
    query = "paris_defense_000605 1 2 3 4"
    write_original(tmp_path, name="defense_1", query=query, good=["b", "b"], ok=["c"], junk=[])
    (asked,) = read(tmp_path).queries
    assert asked.photo == "jpg/paris_defense_000605.jpg"
    assert (asked.positives, asked.junk) == (("jpg/b.jpg", "jpg/c.jpg"), ())


def test_all_queries_in_the_order_of_their_names(tmp_path: Path) -> None:
    touch_photos(tmp_path / "jpg", PHOTOS)
    for n in (2, 1, 3):
        query = f"oxc1_{PHOTOS[n]} 0 0 9 9"
        write_original(tmp_path, name=f"all_souls_{n}", query=query)
    assert [one.photo for one in read(tmp_path).queries] == [
        f"jpg/{name}.jpg" for name in PHOTOS[1:4]
    ]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "four numbers"),
        ("oxc1_all_souls_000013 1 2 3", "four numbers"),
        ("oxc1_all_souls_000013 1 2 3 x", "could not convert"),
        ("oxc1_all_souls_000013 1 2 nan 4", "not within a photo"),
        ("oxc1_all_souls_000013 9 2 3 4", "no area"),
        ("oxc1_other_000001 1 2 3 4", "'other_000001'"),
        ("oxc1_../../etc/passwd 1 2 3 4", "lacks 1 of the 5 photos"),
    ],
)
def test_a_query_that_says_nothing(tmp_path: Path, query: str, reason: str) -> None:
    touch_photos(tmp_path / "jpg", PHOTOS)
    write_original(tmp_path, query=query)
    with pytest.raises(GroundTruthError, match=reason):
        read(tmp_path)


@pytest.mark.parametrize("kind", ["good", "ok", "junk"])
def test_a_missing_list_is_named(tmp_path: Path, kind: str) -> None:
    touch_photos(tmp_path / "jpg", PHOTOS)
    write_original(tmp_path)
    (tmp_path / f"all_souls_1_{kind}.txt").unlink()
    with pytest.raises(GroundTruthError, match=f"there is no all_souls_1_{kind}.txt"):
        read(tmp_path)


def test_missing_photos_are_counted_and_one_is_named(tmp_path: Path) -> None:
    touch_photos(tmp_path / "jpg", PHOTOS[:2])
    write_original(tmp_path)
    with pytest.raises(GroundTruthError, match=r"lacks 2 of the 4 photos .*'oxford_002985'"):
        read(tmp_path)


def test_a_photo_in_two_places_is_refused_if_it_is_asked_for(tmp_path: Path) -> None:
    touch_photos(tmp_path / "jpg/a", [*PHOTOS, "other"])
    touch_photos(tmp_path / "jpg/b", ["other"])
    write_original(tmp_path)
    assert len(read(tmp_path).photos) == 7
    touch_photos(tmp_path / "jpg/b", PHOTOS[:1])
    with pytest.raises(GroundTruthError, match="'all_souls_000013' twice"):
        read(tmp_path)
