"""Pooling of feature maps, in torch."""

import torch
from torch import Tensor
from torch.nn import functional


def gem(maps: Tensor, weights: Tensor, *, p: float, eps: float, unit: bool = True) -> Tensor:
    """Generalised means over parts of feature maps, each of unit length.

    Per channel c and part r: (Σ_i weights[r, i] · max(x_ci, eps)^p)^(1/p), then L2 over channels
    (Radenović et al. 2018, equation 3; Revaud et al. 2019, section 3.1).

    A product with a matrix of weights rather than an integral image: differences of running sums
    of cubes lose the small channels to rounding, sums of positive numbers lose nothing.

    Args:
        maps: (B, C, h, w).
        weights: (R, h·w), each row sums to 1.
        unit: whether to do the L2.

    Returns:
        (B, R, C).
    """
    powers = maps.clamp(min=eps).pow(p).flatten(2).transpose(1, 2)  # (B, h·w, C)
    pooled = torch.matmul(weights, powers).pow(1 / p)  # (B, R, C)
    return functional.normalize(pooled, dim=-1) if unit else pooled
