"""Which device runs the network, and the reason for it in one line."""

import logging
from dataclasses import dataclass
from typing import Literal

_log = logging.getLogger(__name__)


class DeviceOutOfMemory(Exception):
    """The device has too little free memory for this batch; nothing was computed."""


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """The device, and why it is this one: a line fit to be shown to a person."""

    kind: Literal["cpu", "cuda"]
    reason: str


def choose() -> DeviceChoice:
    """CUDA if this build of torch has kernels for the card and they count right, else the CPU.

    A driver that is listed is not yet one that works: a build without kernels for the card, or
    one that computes rubbish, shows only when it is used. Imports torch.
    """
    import torch

    if not torch.cuda.is_available():
        missing = (
            "no CUDA device was found" if torch.version.cuda else "this is a CPU build of torch"
        )
        return DeviceChoice("cpu", f"CPU: {missing}")
    from engine.network.selftest import failure_on

    try:
        name = torch.cuda.get_device_name()
        wrong = failure_on("cuda")
    except Exception as error:  # noqa: BLE001 - drivers raise what they like
        name, wrong = "the CUDA device", str(error).strip().splitlines()[0]
    if wrong:
        _log.warning("%s is not used: %s", name, wrong)
        return DeviceChoice("cpu", f"CPU: {name} failed its self-test ({wrong})")
    return DeviceChoice("cuda", f"CUDA: {name} passed its self-test")
