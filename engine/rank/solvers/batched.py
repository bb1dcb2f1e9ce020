"""Non-negative least squares for a whole shortlist at once, by block pivoting.

Portugal, Júdice and Vicente, "A comparison of block pivoting and interior-point algorithms for
linear least squares problems with nonnegative variables" (1994); Kim and Park, "Fast nonnegative
matrix factorization: an active-set-like method and comparisons" (2011). Each round solves for the
free columns of every problem and exchanges all columns whose sign is wrong. Where the Gram matrix
is well conditioned, five or six rounds end at the optimum for 25 regions; an active set takes about
as many steps as columns take part. What has not ended after a few rounds, as with more regions than
dimensions, goes to the active-set method, which cannot go in circles.

One text serves NumPy and torch: it uses only what both call by the same name. On the CPU it runs
in NumPy, since the threads of torch wait for each other at every small step, and whenever another
program holds a core they wait for milliseconds (measured). Both compute in float64: the Gram matrix
squares the conditioning.
"""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.rank.solvers import active_set

Float64 = NDArray[np.float64]
Array = Any
"""An array of NumPy or a tensor of torch."""

_RIDGE = 1e-12
"""As in `active_set`."""

_TOLERANCE = 1e-11
"""As in `active_set`."""

_ROUNDS = 12

_WIDEST = 64
"""From here on (regions of one candidate), few of many take part in a merge, and the first rounds
of block pivoting, which free most of them, cost more on a CPU than the whole active set."""

_CACHED_VALUES = 1 << 17
"""Numbers of the Gram matrices that a CPU works on at a time (1 MB), to stay in its cache: a long
shortlist costs no more for each candidate than a short one."""


def solve(grams: Float64, targets: Float64, *, device: str = "cpu") -> Float64:
    """argmin_{z≥0} zᵀGz - 2bᵀz of n problems with K unknowns each.

    Args:
        grams: (n, K, K) symmetric, positive semidefinite, ones on the diagonal.
        targets: (n, K) b, within [-1, 1].
        device: "cpu", or a device of torch that has float64, as "cuda".

    Returns:
        (n, K) z ≥ 0. At the optimum Gz - b ≥ 0, and = 0 wherever z > 0.
    """
    if device != "cpu":
        weights, solved = _on_device(grams, targets, device=device)
    elif targets.shape[1] > _WIDEST:
        return active_set.solve_many(grams, targets)
    else:
        weights, solved = _on_cpu(grams, targets)
    left = np.flatnonzero(~solved)
    weights[left] = active_set.solve_many(grams[left], targets[left])
    return weights


def _on_cpu(grams: Float64, targets: Float64) -> tuple[Float64, NDArray[np.bool_]]:
    weights, solved = np.zeros_like(targets), np.zeros(len(targets), dtype=bool)
    step = max(1, _CACHED_VALUES // targets.shape[1] ** 2)
    for first in range(0, len(targets), step):
        part = slice(first, first + step)
        weights[part], solved[part] = block_pivoting(grams[part], targets[part], xp=np)
    return weights, solved


def _on_device(
    grams: Float64, targets: Float64, *, device: str
) -> tuple[Float64, NDArray[np.bool_]]:
    import torch  # the engine has it loaded by the time it searches; who only imports this has not

    there = (
        torch.tensor(values, dtype=torch.float64, device=device) for values in (grams, targets)
    )
    weights, solved = block_pivoting(*there, xp=torch)
    return weights.cpu().numpy(), solved.cpu().numpy()


def block_pivoting(grams: Array, targets: Array, *, xp: ModuleType) -> tuple[Array, Array]:
    """The problems of `solve` that a few rounds of exchanges bring to their optimum.

    Args:
        grams, targets: as for `solve`; arrays of NumPy or tensors of torch on any device.
        xp: `numpy` or `torch`, whose they are.

    Returns:
        (n, K) z, and (n,) whether it is the optimum. z means nothing where it is not.
    """
    weights = xp.zeros_like(targets)
    solved = weights.sum(1) > 0
    left = xp.arange(len(targets), device=targets.device)
    # Any start will do. With all columns free the first round costs most and says least; the
    # better half is fewer and nearer.
    half = xp.argsort(xp.argsort(-targets)) <= targets.shape[1] // 2
    free = half & (targets > _TOLERANCE)
    for _ in range(_ROUNDS):
        z = _optimum_of_free(grams, targets, free, xp=xp)
        slack = (grams @ z[:, :, None])[:, :, 0] - targets
        wrong = xp.where(free, z < 0, slack < -_TOLERANCE)
        going = wrong.any(1)
        weights[left[~going]] = z[~going]
        solved[left[~going]] = True
        left = left[going]
        if not len(left):
            break
        grams, targets, free = grams[going], targets[going], free[going] ^ wrong[going]
    return weights, solved


def _optimum_of_free(grams: Array, targets: Array, free: Array, *, xp: ModuleType) -> Array:
    """(n, K) the unconstrained optimum over each problem's free columns, 0 elsewhere."""
    count, unknowns = targets.shape
    width = int(free.sum(1).max())
    # The free columns first; what pads them has equations of its own, with solution 0. Indices
    # are those of the arrays laid flat.
    order = xp.argsort(~free, stable=True)[:, :width]
    places = xp.arange(count, device=targets.device)[:, None] * unknowns + order
    real = xp.take(free, places)
    systems = xp.take(grams, places[:, :, None] * unknowns + order[:, None, :])
    systems *= real[:, :, None]
    systems *= real[:, None, :]
    diagonal = xp.arange(width, device=targets.device)
    systems[:, diagonal, diagonal] += xp.where(real, _RIDGE, 1.0)
    sides = xp.take(targets, places) * real
    optimum = xp.zeros_like(targets)
    optimum.reshape(-1)[places] = xp.linalg.solve(systems, sides[:, :, None])[:, :, 0]
    return optimum
