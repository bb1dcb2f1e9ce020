"""Peak memory of a training step of three stages at B = 64 and at B = 1024.

Run it: ``python -m tests.bench.three_stage``. The shipped network, pictures of 96 × 96 pixels made
up from seeds, micro-batches of 8, a simple dense loss over all pairs, one thread. Each B runs in a
process of its own; its peak is the most that was resident during the step (VmHWM of the kernel,
set back before it) less what was resident before the step. The same step by plain back-propagation
at B = 64 stands beside it, to show what is saved.

What the whole batch needs by nature is counted and taken off: the descriptors D and the gradient G,
2·B·C floats, which are there during stage 3. The B² similarities of stage 2 and their gradient are
not taken off: they are free again before stage 3, where the peak is, and if they were not, or were
the peak, the figure would show it. The last line states the target; the exit status is 1 if it was
missed.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

FEW, MANY = 64, 1024
SIDE_PX = 96
MICRO_BATCH = 8
CLASSES = 16
FLOAT_BYTES = 4
MIB = 1024**2
GROWTH_TARGET = 10.0


@dataclass(frozen=True)
class Peak:
    """Of one step, in bytes; ``counted``: what belongs to descriptors."""

    pictures: int
    plain: bool
    peak: int
    counted: int
    seconds: float

    @property
    def rest(self) -> int:
        """What should not grow with the batch."""
        return self.peak - self.counted


class MadeUp:
    """Pictures from seeds."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def pixels(self, start: int, stop: int) -> "Tensor":
        import torch

        def picture(seed: int) -> "Tensor":
            random = torch.Generator().manual_seed(seed)
            return torch.randn(3, SIDE_PX, SIDE_PX, generator=random)

        return torch.stack([picture(index) for index in range(start, stop)])


def dense_loss(descriptors: "Tensor", classes: "Tensor") -> "Tensor":
    """The mean squared difference of all similarities to 1 within classes and 0 between them."""
    import torch

    wanted = (classes[:, None] == classes[None, :]).to(descriptors.dtype)
    return torch.nn.functional.mse_loss(descriptors @ descriptors.T, wanted)


def _resident(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise RuntimeError(f"the kernel does not say {field}")


def _measured(pictures: int, plain: bool) -> Peak:
    import torch

    from engine.network import registry
    from engine.training.model import trainable
    from engine.training.three_stage import three_stage

    torch.set_num_threads(1)
    known = registry.manifest(registry.DEFAULT)
    model = trainable(known, registry.weights_file(known.weights))
    batch, classes = MadeUp(pictures), torch.arange(pictures) % CLASSES
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begun = time.perf_counter()
    if plain:
        torch.autograd.backward(dense_loss(model(batch.pixels(0, pictures)), classes))
    else:
        three_stage(model, batch, classes, dense_loss, micro_batch=MICRO_BATCH)
    seconds = time.perf_counter() - begun
    counted = FLOAT_BYTES * 2 * pictures * known.dim
    return Peak(pictures, plain, _resident("VmHWM") - before, counted, seconds)


def _in_a_process(pictures: int, *, plain: bool = False) -> Peak:
    command = [sys.executable, "-m", "tests.bench.three_stage", "--pictures", str(pictures)]
    said = subprocess.run(
        [*command, "--plain"] if plain else command, check=True, capture_output=True, text=True
    )
    return Peak(**json.loads(said.stdout))


def main() -> int:
    """Print the table; 0 if the target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, help="measure this batch alone, as JSON")
    parser.add_argument("--plain", action="store_true", help="by plain back-propagation")
    asked = parser.parse_args()
    if asked.pictures:
        print(json.dumps(asdict(_measured(asked.pictures, asked.plain))))
        return 0
    few, many = _in_a_process(FEW), _in_a_process(MANY)
    print(f"tf_efficientnet_lite0, {SIDE_PX} × {SIDE_PX} pixels, micro-batches of {MICRO_BATCH}")
    print(f"{'step':14s} {'B':>5s} {'peak MiB':>9s} {'counted':>8s} {'rest':>7s} {'s':>7s}")
    for one in (_in_a_process(FEW, plain=True), few, many):
        print(
            f"{'plain' if one.plain else 'three stages':14s} {one.pictures:5d} "
            f"{one.peak / MIB:9.1f} {one.counted / MIB:8.1f} {one.rest / MIB:7.1f} "
            f"{one.seconds:7.1f}"
        )
    growth = 100 * (many.rest / few.rest - 1)
    print(
        f"beyond descriptors B = {MANY} needs {growth:+.1f} % of the memory of "
        f"B = {FEW} more, target < {GROWTH_TARGET:.0f} % either way"
    )
    return 0 if abs(growth) < GROWTH_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
