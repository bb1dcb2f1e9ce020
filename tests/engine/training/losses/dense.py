"""Quantised average precision as its paper writes it: a dense histogram, plain autograd.

Revaud et al. 2019, arXiv 1906.07589, equations 7 to 13. Slow and large; what the engine's scatter
must agree with.
"""

import torch
from torch import Tensor


def dense_precision(
    scores: Tensor,
    labels: Tensor,
    *,
    bins: int,
    low: float = -1.0,
    high: float = 1.0,
    ties: bool = False,
) -> Tensor:
    """(Q,) of scores (Q, N) and 0/1 labels (Q, N); every query has a positive."""
    centres = torch.linspace(high, low, bins, dtype=scores.dtype)
    width = (high - low) / (bins - 1)
    inside = scores.clamp(low, high)
    kernel = torch.relu(1 - (inside[:, :, None] - centres).abs() / width)  # equation 7
    every = kernel.sum(dim=1)
    relevant = (kernel * labels[:, :, None].to(scores.dtype)).sum(dim=1)
    if ties:
        precision = (1 + relevant + 2 * (relevant.cumsum(1) - relevant)) / (
            1 + every + 2 * (every.cumsum(1) - every)
        )
    else:
        precision = relevant.cumsum(1) / every.cumsum(1).clamp_min(1e-12)
    steps = relevant / labels.sum(dim=1, keepdim=True)
    return (precision * steps).sum(dim=1)
