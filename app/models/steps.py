"""What was searched for, step by step: the query, and the photos that steer it."""

from dataclasses import dataclass, replace

from engine.types import Box, Photo, Picture

_KEPT = 100


@dataclass(frozen=True, slots=True)
class Steering:
    """Photos that a person pointed at: "more like this" and "not this". Each is in one at most."""

    liked: tuple[Photo, ...] = ()
    disliked: tuple[Photo, ...] = ()

    @property
    def liked_ids(self) -> tuple[int, ...]:
        """In the order in which they were pointed at."""
        return tuple(photo.id for photo in self.liked)

    @property
    def disliked_ids(self) -> tuple[int, ...]:
        """In the order in which they were pointed at."""
        return tuple(photo.id for photo in self.disliked)

    def __bool__(self) -> bool:
        return bool(self.liked or self.disliked)

    def like(self, photo: Photo) -> "Steering":
        """More like this photo; if that was said already, no more."""
        rest = self.without(photo.id)
        if photo.id in self.liked_ids:
            return rest
        return replace(rest, liked=(*rest.liked, photo))

    def dislike(self, photo: Photo) -> "Steering":
        """Not this photo; if that was said already, no more."""
        rest = self.without(photo.id)
        if photo.id in self.disliked_ids:
            return rest
        return replace(rest, disliked=(*rest.disliked, photo))

    def without(self, photo_id: int) -> "Steering":
        """As if that photo had not been pointed at."""
        return Steering(
            tuple(photo for photo in self.liked if photo.id != photo_id),
            tuple(photo for photo in self.disliked if photo.id != photo_id),
        )


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One search. ``name`` and ``facts``: what the window says of the picture."""

    picture: Picture
    name: str
    facts: str
    box: Box | None = None
    steering: Steering = Steering()

    def same_query(self, other: "SearchStep | None") -> bool:
        """Whether the other asks for the same thing, steered or not."""
        return other is not None and (self.picture, self.box) == (other.picture, other.box)


class SearchHistory:
    """The searches of a session, and where among them one is. A new one takes the place of those
    that one had gone back from."""

    def __init__(self) -> None:
        self._steps: list[SearchStep] = []
        self._at = -1

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier search."""
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        """Whether one has gone back from a later one."""
        return self._at + 1 < len(self._steps)

    def visit(self, step: SearchStep) -> None:
        """A new search; the same once more is no step."""
        if self._at >= 0 and self._steps[self._at] == step:
            return
        del self._steps[self._at + 1 :]
        self._steps.append(step)
        del self._steps[:-_KEPT]
        self._at = len(self._steps) - 1

    def back(self) -> SearchStep | None:
        """Go to the search before; None: there is none."""
        if not self.can_go_back:
            return None
        self._at -= 1
        return self._steps[self._at]

    def forward(self) -> SearchStep | None:
        """Go to the search after; None: there is none."""
        if not self.can_go_forward:
            return None
        self._at += 1
        return self._steps[self._at]
