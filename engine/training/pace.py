"""How far a training is, counted in passes of a picture, so that time left is that of the whole."""

from typing import Final

from engine.config import TrainSettings
from engine.jobs import Ticket
from engine.training.together import Check

TRAINING: Final = "training"
DESCRIBING: Final = "describing"
LEARNING: Final = "learning"

_LEARNING_PASSES = 3
"""A pass with a graph and the way back through it take about as long as three passes without."""


class Pace:
    """Tells a ticket the place of a step, or of a look at held-out photos, in the whole training.

    Args:
        pictures: of one step, by this process.
        judged: held-out pictures that are described each time.
    """

    def __init__(
        self, ticket: Ticket, settings: TrainSettings, *, pictures: int, judged: int
    ) -> None:
        self._ticket = ticket
        self._every = settings.validate_every
        self._step = (1 + _LEARNING_PASSES) * pictures
        self._look = round(judged * (settings.validate_px / settings.crop_px) ** 2)
        looks = 1 + self._looks_before(settings.steps)
        self._total = settings.steps * self._step + looks * self._look

    def in_step(self, done_steps: int) -> Check:
        """What `engine.training.three_stage` is to tell in the step after so many."""
        before = done_steps * self._step + (1 + done_steps // self._every) * self._look

        def tell(stage: str, done: int, total: int) -> None:
            passes = total + _LEARNING_PASSES * done if stage == LEARNING else done
            self._ticket.update(TRAINING, before + passes, self._total)

        return tell

    def in_look(self, done_steps: int) -> Check:
        """What `engine.training.validation` is to tell after so many steps."""
        before = done_steps * self._step + self._looks_before(done_steps) * self._look

        def tell(_stage: str, done: int, total: int) -> None:
            self._ticket.update(TRAINING, before + self._look * done // total, self._total)

        return tell

    def _looks_before(self, done_steps: int) -> int:
        """Looks before the one after so many steps; one comes before the first step."""
        return 1 + (done_steps - 1) // self._every if done_steps else 0
