"""Does a device count right? A known input, a known output."""

import torch
from torch import Tensor
from torch.nn import functional

# What the CPU gives, rounded. Kernels that differ in the order of their sums agree to 1e-6 here;
# TF32 rounding stays below 1e-3; a kernel that is missing or wrong is off by more than a tenth.
_KNOWN = (0.230011, 0.136122, 0.086577, 0.999063)
_TOLERANCE = 5e-3


def _wave(*shape: int, step: float) -> Tensor:
    """Values in [-1, 1] that every machine makes alike, in double precision and without luck."""
    count = int(torch.Size(shape).numel())
    return torch.sin(torch.arange(count, dtype=torch.float64) * step).reshape(shape).float()


def known_answer(device: str) -> tuple[float, ...]:
    """Four numbers from the operations that the networks are made of, computed on a device:
    3 × 3, depthwise and 1 × 1 convolutions, ReLU6, powers, a matrix product, L2."""
    x = _wave(2, 8, 24, 20, step=0.37).to(device, memory_format=torch.channels_last)
    full = _wave(16, 8, 3, 3, step=0.11).to(device)
    depthwise = _wave(16, 1, 5, 5, step=0.23).to(device)
    pointwise = _wave(32, 16, 1, 1, step=0.29).to(device)
    with torch.inference_mode():
        x = functional.relu6(functional.conv2d(x, full, stride=2, padding=1))
        x = functional.relu6(functional.conv2d(x, depthwise, padding=2, groups=16))
        x = functional.relu6(functional.conv2d(x, pointwise))
        parts = x.clamp(min=1e-6).pow(3).flatten(2).mean(-1).pow(1 / 3)
        parts = functional.normalize(parts, dim=-1)
        cosine = parts[0] @ parts[1]
        return (*parts[0, :3].tolist(), float(cosine))


def failure_on(device: str) -> str | None:
    """What is wrong with a device, or None if it counts right."""
    got = known_answer(device)
    if all(abs(a - b) <= _TOLERANCE for a, b in zip(got, _KNOWN, strict=True)):
        return None
    return f"expected {_KNOWN}, got {tuple(round(value, 4) for value in got)}"
