"""What torchrun tells the processes that it starts, by the environment. Torch-free."""

import os


def started_by_torchrun() -> bool:
    """Whether this process is one of several that train together."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_first() -> bool:
    """Whether this process is alone or the first: the one that writes and speaks."""
    return not started_by_torchrun() or os.environ.get("RANK", "0") == "0"


def local_rank() -> int:
    """Which of the processes on this machine this one is: it takes the GPU of this number."""
    return int(os.environ.get("LOCAL_RANK", "0"))
