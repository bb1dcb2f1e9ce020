"""Which pictures a step sees: classes in turn, everything from the seed and the step."""

from collections import Counter
from math import gcd

import pytest

from engine.training.sampling import Drawn, draw, noise_seed

MEMBERS = [[0, 1, 2, 3], [4], [5, 6], [7, 8, 9, 10, 11, 12], [13, 14, 15], [16, 17, 18, 19]]
CLASS_OF = {photo: number for number, own in enumerate(MEMBERS) for photo in own}


def drawn(step: int, *, batch: int = 8, per_class: int = 2, seed: int = 0) -> Drawn:
    return draw(MEMBERS, step=step, batch=batch, per_class=per_class, seed=seed)


def classes_of(one: Drawn) -> list[int]:
    return [CLASS_OF[photo] for photo in one.photos]


@pytest.mark.parametrize(
    ("classes", "count"), [(6, 4), (7, 3), (10, 6), (11, 10), (12, 4), (5, 2), (30, 7)]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_classes_are_seen_equally_often_and_never_twice_in_a_batch(
    classes: int, count: int, seed: int
) -> None:
    members = [[number] for number in range(classes)]
    rounds_in_step = classes // gcd(classes, count)
    seen: Counter[int] = Counter()
    for step in range(3 * rounds_in_step):
        photos = draw(members, step=step, batch=count, per_class=1, seed=seed).photos
        assert len(set(photos)) == len(photos) == count
        seen.update(photos)
        assert max(seen.values()) - min(seen[one] for one in range(classes)) <= 2
    assert set(seen.values()) == {3 * count // gcd(classes, count)}


def test_batches_mix_classes_anew_each_round() -> None:
    members = [[number] for number in range(8)]
    pairs = {
        frozenset(draw(members, step=step, batch=2, per_class=1, seed=0).photos)
        for step in range(40)
    }
    assert len(pairs) > 12


def test_each_class_shows_its_share_of_a_batch() -> None:
    for step in range(6):
        assert sorted(Counter(classes_of(drawn(step))).values()) == [2, 2, 2, 2]
        assert set(Counter(classes_of(drawn(step, batch=9, per_class=3))).values()) == {3}


def test_a_step_follows_from_its_number_and_the_seed() -> None:
    later = [drawn(step) for step in range(9)]
    assert [drawn(step) for step in (8, 3)] == [later[8], later[3]]
    assert len({one.photos for one in later}) == 9
    assert drawn(3, seed=1) != later[3]


def test_small_classes_repeat_photos_under_other_augmentations() -> None:
    one = draw(MEMBERS, step=0, batch=24, per_class=4, seed=0)
    assert Counter(photo for photo in one.photos if photo == 4) == {4: 4}
    assert sorted(Counter(p for p in one.photos if p in (5, 6)).values()) == [2, 2]
    assert len({p for p in one.photos if CLASS_OF[p] == 3}) == 4  # a large one repeats none
    assert len(set(one.seeds)) == len(one.seeds) == 24


def test_over_steps_all_photos_are_seen() -> None:
    seen = {photo for step in range(30) for photo in drawn(step).photos}
    assert seen == set(CLASS_OF)


def test_with_room_for_more_classes_a_batch_has_all_of_them_once() -> None:
    one = draw(MEMBERS, step=3, batch=100, per_class=2, seed=0)
    assert sorted(Counter(classes_of(one)).values()) == [2] * 6


def test_without_balance_large_classes_are_seen_more() -> None:
    members = [list(range(90)), list(range(90, 100))]
    seen = [
        photo
        for step in range(20)
        for photo in draw(members, step=step, batch=20, per_class=2, seed=0, balanced=False).photos
    ]
    assert len(seen) == 400
    assert 0.8 < sum(photo < 90 for photo in seen) / 400 < 0.98
    one = draw(members, step=0, batch=250, per_class=2, seed=0, balanced=False)
    assert set(Counter(one.photos).values()) == {2, 3}
    assert len(set(one.seeds)) == 250


def test_what_a_network_draws_is_another_in_each_step_and_process() -> None:
    seeds = [noise_seed(0, step=step, process=process) for step in (0, 1) for process in (0, 1)]
    assert len({*seeds, noise_seed(1, step=0)}) == 5
    assert noise_seed(0, step=1, process=1) == seeds[3]
