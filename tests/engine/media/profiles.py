"""Colour profiles written by hand, and the same conversions by formula to compare with.

Layout: ICC.1:2010. Matrices are those of the profile connection space, adapted to D50.
"""

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_D50 = (0.9642, 1.0, 0.8249)
_SRGB = np.array(
    [[0.43607, 0.38515, 0.14307], [0.22249, 0.71687, 0.06061], [0.01392, 0.09708, 0.71410]]
)
_P3 = np.array(
    [[0.51512, 0.29198, 0.15710], [0.24120, 0.69225, 0.06657], [-0.00105, 0.04189, 0.78407]]
)
CYAN_INK_LAB = (55.0, -37.0, -50.0)

Colour = NDArray[np.float64]


def display_p3() -> bytes:
    curve = (
        b"para"
        + bytes(4)
        + struct.pack(">HH", 3, 0)
        + _numbers(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    )
    tags = {b"wtpt": _xyz(_D50)}
    for letter, column in zip((b"r", b"g", b"b"), _P3.T, strict=True):
        tags[letter + b"XYZ"] = _xyz(column.tolist())
        tags[letter + b"TRC"] = curve
    return _profile(b"mntr", b"RGB ", b"XYZ ", tags)


def grey_gamma(gamma: float) -> bytes:
    curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(gamma * 256))
    return _profile(b"mntr", b"GRAY", b"XYZ ", {b"wtpt": _xyz(_D50), b"kTRC": curve})


def cmyk_print() -> bytes:
    """Paper is white; full cyan ink is ``CYAN_INK_LAB``, far from the cyan of a screen."""
    grid = bytearray()
    for corner in range(16):
        c, m, y, k = (corner >> bit & 1 for bit in (3, 2, 1, 0))
        lightness = 0.0 if k else 100.0 * 0.55**c * 0.5**m * 0.9**y
        a, b = (0, 0) if k else (-37 * c + 74 * m, -50 * c + 90 * y)
        grid += bytes(
            (round(lightness * 2.55), max(0, min(255, a + 128)), max(0, min(255, b + 128)))
        )
    straight = bytes(range(256))
    lut = b"mft1" + bytes(4) + bytes((4, 3, 2, 0)) + _numbers(1, 0, 0, 0, 1, 0, 0, 0, 1)
    lut += straight * 4 + bytes(grid) + straight * 3
    return _profile(b"prtr", b"CMYK", b"Lab ", {b"wtpt": _xyz(_D50), b"A2B0": lut})


def srgb_to_p3(levels: Sequence[int]) -> list[int]:
    """The same colour, in the levels of Display P3."""
    xyz = _SRGB @ _linear(np.array(levels) / 255)
    return [round(v * 255) for v in _curved(np.linalg.inv(_P3) @ xyz)]


def lab_to_srgb(lab: Sequence[float]) -> list[int]:
    lightness, a, b = lab
    f = np.array([(lightness + 16) / 116 + a / 500, (lightness + 16) / 116, 0.0])
    f[2] = f[1] - b / 200
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * _D50
    return [round(v * 255) for v in _curved(np.linalg.inv(_SRGB) @ xyz)]


def _linear(curved: Colour) -> Colour:
    return np.where(curved <= 0.04045, curved / 12.92, ((curved + 0.055) / 1.055) ** 2.4)


def _curved(linear: Colour) -> Colour:
    inside = np.clip(linear, 0, 1)
    return np.where(inside <= 0.0031308, inside * 12.92, 1.055 * inside ** (1 / 2.4) - 0.055)


def _numbers(*values: float) -> bytes:
    return b"".join(struct.pack(">i", round(value * 65_536)) for value in values)


def _xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + _numbers(*values)


def _profile(kind: bytes, space: bytes, connection: bytes, tags: Mapping[bytes, bytes]) -> bytes:
    table, body = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, data in tags.items():
        padded = data + bytes(-len(data) % 4)
        table += name + struct.pack(">II", start + len(body), len(data))
        body += padded
    header = bytes(4) + bytes(4) + b"\x04\x30\0\0" + kind + space + connection
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28) + _numbers(*_D50)
    whole = header.ljust(128, b"\0") + struct.pack(">I", len(tags)) + table + body
    return struct.pack(">I", len(whole)) + whole[4:]
