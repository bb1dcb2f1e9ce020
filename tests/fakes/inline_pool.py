"""A decode pool without processes: decodes in the calling thread, one after the other."""

from collections.abc import Generator, Iterable

from engine.errors import PhotoError
from engine.jobs import Ticket
from engine.media.decode import DecodedPhoto, decode
from engine.media.pool import DecodeOutcome, DecodeTask


class InlinePool:
    """Implements the Decoder of engine.indexing.parts and of engine.searching.parts. ``tasks``
    remembers what it was given."""

    def __init__(self) -> None:
        self.tasks: list[DecodeTask] = []

    def run(
        self, tasks: Iterable[DecodeTask], ticket: Ticket
    ) -> Generator[DecodeOutcome, None, None]:
        for task in tasks:
            ticket.check()
            try:
                photo = self.decode(task)
            except PhotoError as error:
                yield DecodeOutcome(task, None, error)
            else:
                yield DecodeOutcome(task, photo, None)

    def decode(self, task: DecodeTask, ticket: Ticket | None = None) -> DecodedPhoto:
        if ticket is not None:
            ticket.check()
        self.tasks.append(task)
        return decode(
            task.picture,
            max_side_px=task.max_side_px,
            thumbnail_px=task.thumbnail_px,
            max_pixels=50_000_000,
        )
