"""The losses that average precision is compared with: triplets and contrastive pairs.

Both look at pairs of descriptors rather than at whole rankings (Revaud et al. 2019, arXiv
1906.07589, section 4.4, has them as TL and CL). They come from PyTorch Metric Learning, with
Euclidean distances between unit descriptors, 0…2, and hold B × B distances with their graph.
"""

from dataclasses import dataclass

import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss as PairMargins
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.miners import BatchHardMiner
from torch import Tensor

from engine.errors import TrainingError
from engine.training.losses.checks import NO_POSITIVES, require_finite


@dataclass(frozen=True, slots=True)
class TripletLoss:
    """Mean over the violating triplets of max(0, ‖q - p‖ - ‖q - n‖ + margin), one triplet for each
    descriptor q that has both: p is the farthest of its class in the batch, n the nearest of
    another (Hermans et al. 2017, arXiv 1703.07737, "batch hard")."""

    margin: float = 0.1

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        """The loss, a scalar ≥ 0 with its graph.

        Args:
            descriptors: (B, C) unit rows.
            classes: (B,) int64.

        Raises:
            TrainingError: the batch has no triplet, or a descriptor is not finite.
        """
        require_finite(descriptors, "descriptors")
        _require_positives(classes)
        if (classes == classes[0]).all():
            raise TrainingError("no query of the batch has a negative: every photo has one class")
        distance = _euclidean()
        mined = BatchHardMiner(distance=distance)(descriptors, classes)
        triplets = TripletMarginLoss(margin=self.margin, distance=distance)
        loss: Tensor = triplets(descriptors, classes, mined)
        return loss


@dataclass(frozen=True, slots=True)
class ContrastiveLoss:
    """Over all pairs of the batch: the mean distance of pairs of one class, and the mean of
    max(0, margin - distance) over the pairs of two classes that are closer than the margin."""

    margin: float = 0.7

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        """The loss, a scalar ≥ 0 with its graph.

        Args:
            descriptors: (B, C) unit rows.
            classes: (B,) int64.

        Raises:
            TrainingError: no two photos share a class, or a descriptor is not finite.
        """
        require_finite(descriptors, "descriptors")
        _require_positives(classes)
        pairs = PairMargins(pos_margin=0, neg_margin=self.margin, distance=_euclidean())
        loss: Tensor = pairs(descriptors, classes)
        return loss


def _euclidean() -> LpDistance:
    return LpDistance(normalize_embeddings=False, p=2, power=1)


def _require_positives(classes: Tensor) -> None:
    if len(torch.unique(classes)) == len(classes):
        raise TrainingError(NO_POSITIVES)
