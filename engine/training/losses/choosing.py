"""A loss by its name."""

from typing import Protocol

from torch import Tensor

from engine.config import LossKind, LossSettings
from engine.training.losses.listwise import AveragePrecisionLoss


class Loss(Protocol):
    """What a training step minimises."""

    def __call__(self, descriptors: Tensor, classes: Tensor) -> Tensor:
        """A scalar, differentiable once to the descriptors.

        Args:
            descriptors: (B, C) float32 unit rows.
            classes: (B,) int64.

        Raises:
            TrainingError: the batch holds nothing that the loss could learn from.
        """
        ...


def loss_of(name: LossKind | str, settings: LossSettings | None = None) -> Loss:
    """The loss of this name ("ap", "ap-tie", "triplet" or "contrastive").

    Raises:
        SettingsError: there is none, or a setting is out of its range.
    """
    kind = LossKind.named(name)
    settings = settings or LossSettings()
    settings.validate()
    if kind in (LossKind.AP, LossKind.AP_TIE):
        return AveragePrecisionLoss(
            bins=settings.bins,
            ties=kind is LossKind.AP_TIE,
            class_weights=settings.class_weights,
            self_match=settings.self_match,
            low=settings.low,
            high=settings.high,
            memory_bytes=settings.memory_bytes,
        )
    # Loads PyTorch Metric Learning, and scikit-learn with it, for those who compare.
    from engine.training.losses.comparison import ContrastiveLoss, TripletLoss

    if kind is LossKind.TRIPLET:
        return TripletLoss(settings.triplet_margin)
    return ContrastiveLoss(settings.contrastive_margin)
