"""What a training has been through, step by step. Torch-free."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One step. ``map``: of the held-out classes after it, 0…1; None where they were not asked.
    ``seconds``: of the step alone. ``gradient_norm``: L2 over all parameters."""

    step: int
    loss: float
    learning_rate: float
    gem_p: float
    gradient_norm: float
    seconds: float
    map: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """``start``: mAP of the held-out classes before the first step, None without any. ``best``:
    the step after which the kept weights stood, 0 for those of the start. ``blended``: mAP of what
    they and the start were blended to, at the end, if they were."""

    start: float | None = None
    steps: tuple[StepRecord, ...] = ()
    best: int = 0
    blended: float | None = None

    @property
    def kept_map(self) -> float | None:
        """mAP of the weights that the training leaves."""
        return self.best_map if self.blended is None else self.blended

    @property
    def best_map(self) -> float | None:
        """mAP of the best step's weights."""
        if not self.best:
            return self.start
        return next(one.map for one in self.steps if one.step == self.best)

    def with_step(self, record: StepRecord) -> "History":
        """With one more step; the best one if its mAP is."""
        best = self.best
        if record.map is not None and (self.best_map is None or record.map > self.best_map):
            best = record.step
        return History(self.start, (*self.steps, record), best)

    def to_json(self) -> str:
        return json.dumps(
            {"start": self.start, "best": self.best, "steps": [asdict(one) for one in self.steps]}
        )

    @classmethod
    def from_json(cls, text: str) -> "History":
        """What `to_json` wrote."""
        data = json.loads(text)
        return cls(data["start"], tuple(StepRecord(**one) for one in data["steps"]), data["best"])


def as_csv(steps: Sequence[StepRecord]) -> str:
    """One line for each step, with a head."""
    names = [field.name for field in fields(StepRecord)]
    written = io.StringIO()
    table = csv.DictWriter(written, names, lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(one) for one in steps)
    return written.getvalue()
