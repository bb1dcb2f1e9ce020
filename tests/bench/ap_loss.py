"""How much faster and smaller the listwise loss is than the dense histogram of its paper.

Run it: ``python -m tests.bench.ap_loss``. Both get the same batch and compute the loss and its
gradient once, forward and backward; each in its own process, so that peak memory is its own, one
after the other and in turns, so that a busy machine slows both alike. The peak is what a process
has grown by since its imports and inputs. The dense formula is that of Revaud et al. 2019
(arXiv 1906.07589), equations 7 to 12, as one writes it in torch: every score against every bin, and
autograd. The last line states the targets; the exit status is 1 if one was missed.
"""

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.training.losses.listwise import AveragePrecisionLoss
from tests.engine.training.losses.dense import dense_precision

BATCH, DIM, BINS, CLASS_SIZE = 4096, 2048, 20, 8
DIRECTIONS = 64
ROUNDS = 2
SPEED_TARGET = 5.0
MEMORY_TARGET = 0.25
AGREEMENT_TARGET = 1e-5
_MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class _Run:
    seconds: float
    peak_bytes: int
    value: float
    gradient: Tensor


def made_up_features() -> tuple[Tensor, Tensor]:
    """(B, C) rows before their normalisation, float32, and (B,) classes: photos of a class share a
    part of what they are, all photos share a little, and all of it lies in few directions, so that
    similarities spread over many bins and rankings are half right."""
    source = torch.Generator().manual_seed(0)
    classes = torch.arange(BATCH) // CLASS_SIZE
    things = torch.randn(BATCH // CLASS_SIZE, DIRECTIONS, generator=source)
    own = torch.randn(BATCH, DIRECTIONS, generator=source)
    everywhere = torch.randn(DIRECTIONS, generator=source)
    directions = torch.randn(DIRECTIONS, DIM, generator=source)
    return (own + 0.7 * things[classes] + 0.3 * everywhere) @ directions, classes


def _dense(descriptors: Tensor, classes: Tensor) -> Tensor:
    labels = classes[:, None] == classes
    return 1 - dense_precision(descriptors @ descriptors.T, labels, bins=BINS).mean()


def _listwise(descriptors: Tensor, classes: Tensor) -> Tensor:
    return AveragePrecisionLoss(bins=BINS)(descriptors, classes)


_SIDES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"dense": _dense, "listwise": _listwise}


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_BYTES


def _measured(side: str) -> _Run:
    """One forward and backward. The gradient goes to the rows before they are normalised: what a
    descriptor has along itself differs by rounding and reaches no weight."""
    features, classes = made_up_features()
    features.requires_grad_()
    warm = functional.normalize(features[:64], dim=1)  # threads and kernels of a first call
    torch.autograd.grad(_SIDES[side](warm, classes[:64]), features)
    before, begun = _peak_bytes(), time.perf_counter()
    loss = _SIDES[side](functional.normalize(features, dim=1), classes)
    (gradient,) = torch.autograd.grad(loss, features)
    seconds = time.perf_counter() - begun
    return _Run(seconds, _peak_bytes() - before, loss.item(), gradient)


def main() -> int:
    """Print the table; 0 if all targets were met."""
    runs: dict[str, list[_Run]] = {side: [] for side in _SIDES}
    for _ in range(ROUNDS):
        for side, measured in runs.items():
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                measured.append(pool.apply(_measured, (side,)))
    print(f"B = {BATCH}, C = {DIM}, M = {BINS}, {torch.get_num_threads()} threads, {ROUNDS} rounds")
    print(f"{'loss':10s} {'median s':>9s} {'least s':>9s} {'peak MB':>9s} {'value':>12s}")
    for side, measured in runs.items():
        spent = [run.seconds for run in measured]
        peak = max(run.peak_bytes for run in measured)
        print(
            f"{side:10s} {statistics.median(spent):9.2f} {min(spent):9.2f} {peak / 1e6:9.0f} "
            f"{measured[0].value:12.8f}"
        )
    pairs = list(zip(runs["dense"], runs["listwise"], strict=True))
    speed = statistics.median(dense.seconds / listwise.seconds for dense, listwise in pairs)
    memory = max(listwise.peak_bytes / dense.peak_bytes for dense, listwise in pairs)
    value = max(abs(listwise.value - dense.value) / dense.value for dense, listwise in pairs)
    apart = max(
        float((listwise.gradient - dense.gradient).norm() / dense.gradient.norm())
        for dense, listwise in pairs
    )
    print(
        f"listwise is {speed:.1f} times as fast, target >= {SPEED_TARGET:.1f}; "
        f"{memory:.3f} of the memory, target <= {MEMORY_TARGET}; value {value:.1e} and gradient "
        f"{apart:.1e} apart, target <= {AGREEMENT_TARGET:.0e}"
    )
    met = speed >= SPEED_TARGET and memory <= MEMORY_TARGET
    return 0 if met and max(value, apart) <= AGREEMENT_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
