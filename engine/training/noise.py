"""Torch's random numbers, remembered and drawn again. Imports torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class RandomState:
    """Where torch's generators of the CPU and of a CUDA device stand."""

    device: torch.device
    cpu: Tensor
    cuda: Tensor | None

    @classmethod
    def now(cls, device: torch.device) -> "RandomState":
        """As it is now."""
        cuda = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
        return cls(device, torch.get_rng_state(), cuda)

    @property
    def moved(self) -> bool:
        """Whether numbers have been drawn since."""
        now = RandomState.now(self.device)
        if self.cuda is not None and now.cuda is not None and not torch.equal(self.cuda, now.cuda):
            return True
        return not torch.equal(self.cpu, now.cpu)

    @contextmanager
    def again(self) -> Iterator[None]:
        """Draw inside the block what was drawn after this state; outside nothing changes."""
        devices = [] if self.cuda is None else [self.device]
        with torch.random.fork_rng(devices=devices):
            torch.set_rng_state(self.cpu)
            if self.cuda is not None:
                torch.cuda.set_rng_state(self.cuda, self.device)
            yield
