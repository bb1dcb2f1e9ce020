"""How well held-out classes are found: exact mean average precision. Imports torch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import TrainingError
from engine.rank.precision import average_precision_of_scores
from engine.training.augmentation import Augmentation, AugmentedBatch, normalised, pixels_of
from engine.training.labelled import Labelled
from engine.training.together import Check

CHECKING: Final = "checking held-out classes"

_AUGMENTED_SEED = 20190619


class Validation:
    """Held-out photos, each of which looks for the others of its class.

    Photos are seen whole, at one scale, as searches see them. The photo of a class that has no
    other is seen once more through the training's augmentation, and the two look for each other.

    Args:
        side_px: longest side of the photos, never enlarged.
        mean, std: of red, green, blue on the scale 0..255.
    """

    def __init__(
        self,
        held_out: Labelled,
        augmentation: Augmentation,
        *,
        side_px: int,
        mean: Sequence[float],
        std: Sequence[float],
    ) -> None:
        self._photos = held_out.photos
        self._side_px = side_px
        self._mean, self._std = mean, std
        single = [own[0] for own in held_out.members if len(own) == 1]
        self._again = AugmentedBatch(
            [held_out.photos[place] for place in single],
            [_AUGMENTED_SEED + place for place in single],
            augmentation,
            mean=mean,
            std=std,
        )
        classes = (*held_out.classes, *(held_out.classes[place] for place in single))
        self._classes = np.array(classes, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._classes)

    def mean_average_precision(
        self, model: nn.Module, check: Check | None = None, *, only_first: bool = False
    ) -> float:
        """mAP of leaving each query out of its ranking (Revaud et al. 2019, equation 2), 0…1.

        The model is asked in evaluation, and is as it was afterwards.

        Args:
            only_first: the first photo of each class asks, as in Holidays; else all of them do.

        Raises:
            TrainingError: a photo cannot be read any more, or a descriptor is no number.
        """
        rows = self._described(model, check).cpu().numpy()
        if not np.isfinite(rows).all():
            raise TrainingError("the network gives held-out photos descriptors that are no numbers")
        scores = rows @ rows.T
        precisions: list[float] = []
        asked: set[int] = set()
        for query, own in enumerate(self._classes.tolist()):
            if only_first and own in asked:
                continue
            asked.add(own)
            others = np.arange(len(rows)) != query
            relevant = self._classes[others] == own
            precision = average_precision_of_scores(scores[query, others], relevant)
            if precision is not None:
                precisions.append(precision)
        return float(np.mean(precisions)) if precisions else 0.0

    def _described(self, model: nn.Module, check: Check | None) -> Tensor:
        device = next(model.parameters()).device
        rows: list[Tensor] = []
        with torch.no_grad(), _in_evaluation(model):
            for place in range(len(self)):
                if check is not None:
                    check(CHECKING, place, len(self))
                rows.append(model(self._pixels(place).to(device)))
        return torch.cat(rows)

    def _pixels(self, place: int) -> Tensor:
        """(1, 3, H, W); photos first, then those that are seen once more."""
        again = place - len(self._photos)
        if again >= 0:
            return self._again.pixels(again, again + 1)
        pixels = pixels_of(self._photos[place], max_side_px=self._side_px)
        picture = torch.from_numpy(pixels).permute(2, 0, 1)[None]
        return normalised(picture, mean=self._mean, std=self._std)


@contextmanager
def _in_evaluation(model: nn.Module) -> Iterator[None]:
    before = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(before)
