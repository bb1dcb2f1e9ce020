"""The losses of training side by side: ``python -m tests.bench.losses [PICTURES [SIDE_PX]]``.

All else equal (Revaud et al. 2019, sections 4.3 and 4.4, at a scale that two cores can pay for):
the same network to begin with, the same photos (ukbench of REFOCAL_PHOTOS, a group = a class), the
same number of pictures that pass (1,536), squares of the same side (160 px). The learning rate of
each loss is tuned among `RATES`, each tried for the whole budget; the ablations of AP_Q take the
best of its rates. Holidays judges, by the global descriptor: cutouts holds objects of ukbench and
is no judge. A table, and no target: what wins is reported.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.config import LossKind, LossSettings, TrainSettings
from engine.evaluation.reading import read
from engine.jobs import Ticket
from engine.network.backbone import use_threads
from engine.network.registry import manifest, weights_file
from engine.teaching import labels_of
from engine.training.checkpoint import Checkpoint
from engine.training.labelled import Labelled, grouped
from engine.training.losses.choosing import loss_of
from engine.training.model import TrainableNetwork, trainable
from engine.training.trainer import Trainer, augmentation_of
from engine.training.validation import Validation

START = "efficientnet-lite0"
PICTURES, SIDE_PX, JUDGED_PX = 1536, 160, 320
BATCH = 256
RATES = (3e-5, 1e-4, 3e-4)


@dataclass(frozen=True)
class _Row:
    name: str
    settings: TrainSettings


class _Bench:
    """The photos, read once, and the runs on them."""

    def __init__(self, photos: Path, pictures: int, side_px: int) -> None:
        self._pictures = pictures
        self._side_px = side_px
        self._learning = labels_of(photos / "ukbench", each_photo=False)
        self._judge = _Holidays(photos / "holidays")

    def table(self) -> None:
        """Print it, row by row."""
        print(f"holidays before: {self._judge.mean_average_precision(_fresh()):.4f}")
        print(f"{'':34s} {'rate':>7s} {'steps':>6s} {'passes':>7s} {'seconds':>8s} {'mAP':>7s}")
        rate = RATES[0]
        for kind in LossKind:
            tried = {rate: self._run(_Row(str(kind), self._settings(kind, rate))) for rate in RATES}
            if kind is LossKind.AP:
                rate = max(tried, key=lambda one: tried[one])
        for row in self._ablations(self._settings(LossKind.AP, rate)):
            self._run(row)

    def _settings(self, kind: LossKind, rate: float) -> TrainSettings:
        steps = self._pictures // BATCH
        return TrainSettings(
            loss=kind,
            steps=steps,
            batch=BATCH,
            crop_px=self._side_px,
            lr=rate,
            validate_every=steps,
        )

    def _ablations(self, of: TrainSettings) -> Iterator[_Row]:
        yield _Row(
            "ap, equal queries", replace(of, loss_settings=LossSettings(class_weights=False))
        )
        for bins in (5, 40):
            yield _Row(f"ap, M = {bins}", replace(of, loss_settings=LossSettings(bins=bins)))
        for batch in (64, 128):
            steps = self._pictures // batch
            yield _Row(
                f"ap, B = {batch}", replace(of, batch=batch, steps=steps, validate_every=steps)
            )
        yield _Row("ap, photos of any class", replace(of, balanced=False))

    def _run(self, row: _Row) -> float:
        known, settings = manifest(START), row.settings
        with tempfile.TemporaryDirectory(prefix="refocal-bench-") as ground:
            trainer = Trainer(
                model := _fresh(),
                self._learning,
                loss_of(settings.loss, settings.loss_settings),
                settings,
                validation=None,
                checkpoint=Checkpoint(Path(ground), row.name),
                mean=known.mean,
                std=known.std,
            )
            began = time.perf_counter()
            trainer.run(Ticket())
            seconds = time.perf_counter() - began
        reached = self._judge.mean_average_precision(model)
        passes = settings.steps * settings.batch
        print(
            f"{row.name:34s} {settings.lr:7.0e} {settings.steps:6d} {passes:7d} {seconds:8.0f} "
            f"{reached:7.4f}",
            flush=True,
        )
        return reached


class _Holidays:
    """mAP of the queries alone, each photo seen whole."""

    def __init__(self, folder: Path) -> None:
        truth = read(folder)
        self._groups = {
            query.photo: [folder / name for name in (query.photo, *query.positives)]
            for query in truth.queries
        }

    def mean_average_precision(self, model: TrainableNetwork) -> float:
        known = manifest(START)
        labelled: Labelled = grouped(self._groups)
        validation = Validation(
            labelled,
            augmentation_of(TrainSettings()),
            side_px=JUDGED_PX,
            mean=known.mean,
            std=known.std,
        )
        return validation.mean_average_precision(model, only_first=True)


def _fresh() -> TrainableNetwork:
    known = manifest(START)
    return trainable(known, weights_file(known.weights))


def main(pictures: int, side_px: int) -> int:
    """Print the table."""
    use_threads(None)
    _Bench(Path(os.environ["REFOCAL_PHOTOS"]), pictures, side_px).table()
    return 0


if __name__ == "__main__":
    numbers = [int(number) for number in sys.argv[1:]]
    sys.exit(main(*(numbers + [PICTURES, SIDE_PX][len(numbers) :])))
