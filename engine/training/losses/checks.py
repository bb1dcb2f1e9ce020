"""What every loss asks of a batch."""

import torch
from torch import Tensor

from engine.errors import TrainingError

NO_POSITIVES = "no query of the batch has a positive: no two photos share a class"


def require_finite(values: Tensor, what: str) -> None:
    """Stop a training that went astray before what is no number reaches the weights.

    Raises:
        TrainingError: a value is infinite or no number.
    """
    if not torch.isfinite(values).all():
        raise TrainingError(f"{what} are not all finite numbers: the training has diverged")
