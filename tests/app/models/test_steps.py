"""The searches of a session: one way back, one way forward."""

from dataclasses import replace

from app.models.steps import _KEPT, SearchHistory, SearchStep, Steering
from engine.types import Box, Picture
from tests.fakes.scripted_engine import photo


def step(number: int) -> SearchStep:
    return SearchStep(Picture(data=b"a"), "a", "", Box(number, 0, 10, 10))


def test_a_new_search_takes_the_place_of_what_one_went_back_from() -> None:
    history = SearchHistory()
    for n in range(3):
        history.visit(step(n))
    assert history.back() == step(1)
    assert history.back() == step(0)
    assert history.back() is None
    assert history.forward() == step(1)
    history.visit(step(9))
    assert history.forward() is None
    assert history.back() == step(1)


def test_the_same_search_again_is_no_step() -> None:
    history = SearchHistory()
    history.visit(step(1))
    history.visit(step(1))
    assert not history.can_go_back
    history.visit(replace(step(1), steering=Steering(liked=(photo(1),))))
    assert history.can_go_back


def test_the_oldest_are_forgotten() -> None:
    history = SearchHistory()
    for n in range(_KEPT + 5):
        history.visit(step(n))
    steps = 0
    while history.back():
        steps += 1
    assert steps == _KEPT - 1
    assert history.forward() == step(6)


def test_a_photo_steers_in_one_way_at_most() -> None:
    steering = Steering().like(photo(1)).like(photo(2)).dislike(photo(1))
    assert (steering.liked_ids, steering.disliked_ids) == ((2,), (1,))
    assert not steering.like(photo(2)).without(1)
    assert Steering().dislike(photo(1)).like(photo(1)) == Steering(liked=(photo(1),))
