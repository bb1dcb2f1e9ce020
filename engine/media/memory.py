"""How many pixels may be decoded with the memory that is free."""

import psutil

from engine.config import DecodeSettings
from engine.media.decode import BYTES_PER_PIXEL

_SHARE = 0.5
_SLACK_BYTES = 1024**3


def pixel_limit(settings: DecodeSettings) -> int:
    """The smaller of the setting and what half the free memory allows each worker."""
    free = psutil.virtual_memory().available
    return min(settings.max_pixels, int(free * _SHARE / settings.workers / BYTES_PER_PIXEL))


def process_limit(settings: DecodeSettings) -> int:
    """Bytes that a decoding process may allocate: enough for the largest picture, and slack for
    the stacks and arenas of the decoders' threads, which count as soon as they are reserved."""
    return settings.max_pixels * BYTES_PER_PIXEL + _SLACK_BYTES
