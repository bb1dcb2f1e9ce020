"""Labels of photos: folders, ground truths, and classes that are held out."""

import json
from pathlib import Path

import pytest

from engine.errors import TrainingError
from engine.teaching import labels_of
from engine.training.labelled import Labelled, grouped, labelled_folder, split
from tests.fakes.painted import paint


def as_groups(labelled: Labelled, folder: Path) -> dict[str, set[str]]:
    """The photos of each class, by their names within the folder."""
    return {
        name: {labelled.photos[place].relative_to(folder).as_posix() for place in places}
        for name, places in zip(labelled.names, labelled.members, strict=True)
    }


@pytest.fixture
def album(tmp_path: Path) -> Path:
    for number, name in enumerate(
        ("cats/a.jpg", "cats/b.png", "cats/old/1990/c.jpg", "dogs/a.jpg", "loose.jpg")
    ):
        paint(tmp_path / name, number)
    (tmp_path / "dogs" / "notes.txt").write_text("no photo")
    (tmp_path / "empty").mkdir()
    return tmp_path


def test_a_folder_is_a_class_whatever_lies_below_it(album: Path) -> None:
    labelled = labelled_folder(album)
    assert as_groups(labelled, album) == {
        "cats": {"cats/a.jpg", "cats/b.png", "cats/old/1990/c.jpg"},
        "dogs": {"dogs/a.jpg"},
    }
    assert labelled.names == ("cats", "dogs")
    assert labelled.classes == (0, 0, 0, 1)


def test_each_photo_can_be_a_class(album: Path) -> None:
    labelled = labelled_folder(album, each_photo=True)
    assert len(labelled.names) == len(labelled.photos) == 5
    assert as_groups(labelled, album)["cats/old/1990/c.jpg"] == {"cats/old/1990/c.jpg"}
    assert as_groups(labelled, album)["loose.jpg"] == {"loose.jpg"}


def test_without_labels_there_is_an_error(tmp_path: Path) -> None:
    paint(tmp_path / "loose.jpg", 1)
    with pytest.raises(TrainingError, match="has a label"):
        labelled_folder(tmp_path)
    for nowhere in (tmp_path / "nowhere", tmp_path / "loose.jpg"):
        with pytest.raises(TrainingError, match=f"no folder {nowhere}"):
            labelled_folder(nowhere)


# --- gt.json --------------------------------------------------------------------------------


def write_truth(folder: Path, queries: list[tuple[str, list[str]]], photos: int) -> None:
    for number in range(photos):
        paint(folder / f"{number}.jpg", number)
    truth = {
        "photos": [f"{number}.jpg" for number in range(photos)],
        "queries": [{"photo": photo, "positives": own} for photo, own in queries],
    }
    (folder / "gt.json").write_text(json.dumps(truth))


def test_a_ground_truth_says_what_belongs_together(tmp_path: Path) -> None:
    write_truth(tmp_path, [("0.jpg", ["1.jpg"]), ("3.jpg", ["2.jpg"]), ("2.jpg", ["4.jpg"])], 6)
    groups = as_groups(labels_of(tmp_path, each_photo=False), tmp_path)
    assert sorted(map(sorted, groups.values())) == [
        ["0.jpg", "1.jpg"],
        ["2.jpg", "3.jpg", "4.jpg"],
        ["5.jpg"],
    ]


def test_groups_that_a_later_query_joins_are_one(tmp_path: Path) -> None:
    write_truth(tmp_path, [("0.jpg", ["1.jpg"]), ("2.jpg", ["3.jpg"]), ("1.jpg", ["3.jpg"])], 4)
    assert len(labels_of(tmp_path, each_photo=False).names) == 1


def test_each_photo_goes_before_a_ground_truth(tmp_path: Path) -> None:
    write_truth(tmp_path, [("0.jpg", ["1.jpg"])], 2)
    assert len(labels_of(tmp_path, each_photo=True).names) == 2


def test_without_a_ground_truth_folders_are_classes(album: Path) -> None:
    assert labels_of(album, each_photo=False) == labelled_folder(album)


# --- parts ----------------------------------------------------------------------------------


def made(*counts: int) -> Labelled:
    return grouped(
        {f"c{n}": [Path(f"/{n}/{p}.jpg") for p in range(count)] for n, count in enumerate(counts)}
    )


def test_photos_can_be_left_out(album: Path) -> None:
    left = labelled_folder(album).without([album / "dogs/a.jpg", album / "cats/a.jpg"])
    assert as_groups(left, album) == {"cats": {"cats/b.png", "cats/old/1990/c.jpg"}}
    assert left.classes == (0, 0)


def test_classes_are_numbered_anew() -> None:
    left = made(1, 2, 3).only([2, 0])
    assert left.names == ("c0", "c2")
    assert left.classes == (0, 1, 1, 1)
    assert {photo.parent.name for photo in left.photos} == {"0", "2"}


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.8])
def test_a_split_keeps_classes_whole_and_apart(share: float) -> None:
    whole = made(*[3] * 20)
    learning, held_out = split(whole, share, seed=5)
    assert len(held_out.names) == round(share * 20)
    assert set(learning.names) | set(held_out.names) == set(whole.names)
    assert not set(learning.names) & set(held_out.names)
    assert not set(learning.photos) & set(held_out.photos)
    assert all(len(own) == 3 for part in (learning, held_out) for own in part.members)


def test_a_split_follows_from_its_seed() -> None:
    whole = made(*[3] * 20)
    again = [split(whole, 0.3, seed=seed)[1].names for seed in (1, 1, 2, 3)]
    assert again[0] == again[1]
    assert len(set(again)) == 3


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_out_has_classes_of_several_photos_if_there_are_any(seed: int) -> None:
    _, held_out = split(made(*[1] * 9, 4), 0.1, seed=seed)
    assert [len(own) for own in held_out.members] == [4]
    learning, held_out = split(made(*[1] * 10, *[4] * 10), 0.2, seed=seed)
    for part in (learning, held_out):
        assert {len(own) for own in part.members} == {1, 4}


def test_nothing_may_be_held_out() -> None:
    learning, held_out = split(made(2, 2), 0.0, seed=0)
    assert learning == made(2, 2)
    assert not held_out.photos
    assert not held_out.names


@pytest.mark.parametrize(("counts", "share"), [((2, 2), 0.1), ((2, 2, 2), 0.7), ((), 0.1)])
def test_too_few_classes_to_hold_some_out_is_an_error(
    counts: tuple[int, ...], share: float
) -> None:
    with pytest.raises(TrainingError, match="too few"):
        split(made(*counts), share, seed=0)
