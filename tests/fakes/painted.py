"""Small photos made for tests: every number another content."""

from pathlib import Path

import numpy as np
from PIL import Image


def paint(path: Path, number: int, *, w: int = 48, h: int = 32) -> Path:
    """Write photo ``number`` to ``path`` (the suffix decides the format), making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    coarse = np.random.default_rng(number).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize((w, h), Image.Resampling.BICUBIC).save(path)
    return path


def paint_album(folder: Path, count: int, *, first: int = 0) -> list[Path]:
    """Photos ``first`` … ``first + count - 1`` as ``photo_000.jpg`` …"""
    return [
        paint(folder / f"photo_{number:03}.jpg", number) for number in range(first, first + count)
    ]
