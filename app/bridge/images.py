"""The engine's arrays as Qt images. Everything here may run on any thread."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from engine.errors import PhotoUnreadableError
from engine.types import FloatArray, FocusMap, PixelArray, Size

# Stops of the focus colours: value, red, green, blue, opacity. Cold parts leave the photo as it
# is; lightness and opacity rise together, so the map reads without seeing the hues.
_STOPS = np.array(
    [
        (0.00, 90, 10, 80, 0.00),
        (0.20, 120, 15, 90, 0.05),
        (0.45, 200, 45, 75, 0.36),
        (0.70, 240, 95, 40, 0.60),
        (1.00, 255, 190, 70, 0.78),
    ]
)


def image_from_pixels(pixels: PixelArray) -> QImage:
    """An image that owns its memory.

    Args:
        pixels: (H, W, 3) uint8, sRGB.
    """
    height, width, _ = pixels.shape
    rows = np.ascontiguousarray(pixels)
    image = QImage(rows.data, width, height, 3 * width, QImage.Format.Format_RGB888)
    return image.copy()  # the first one only borrows the array


def image_from_jpeg(jpeg: bytes) -> QImage:
    """An image from an encoded picture.

    Raises:
        PhotoUnreadableError: the bytes are no picture.
    """
    image = QImage.fromData(jpeg)
    if image.isNull():
        raise PhotoUnreadableError("the stored thumbnail is damaged")
    return image


def focus_image(focus: FocusMap, size: Size, *, longest_px: int = 384) -> QImage:
    """A focus map as a transparent coloured image, to be stretched over the photo.

    Args:
        focus: values are taken as the centres of their cells and interpolated between. A
            footprint knows whole regions only: its edges are softened, or they would be read as
            the thing's.
        size: of the upright photo; the image has its shape, but not its resolution.
        longest_px: longest side of the image in pixels.

    Returns:
        Premultiplied ARGB, at least 1 x 1.
    """
    factor = min(1.0, longest_px / max(size.w, size.h, 1))
    width, height = max(1, round(size.w * factor)), max(1, round(size.h * factor))
    clipped = np.clip(focus.values, 0.0, 1.0)
    shown = clipped if focus.exact else _softened(clipped)
    values = _enlarged(shown, width, height)
    bgra = _colours()[np.rint(values * 255).astype(np.intp)]  # (height, width, 4)
    image = QImage(bgra.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
    return image.copy()


def _softened(values: FloatArray) -> FloatArray:
    """(rows, columns), blurred by a Gaussian of a sixteenth of its longer side; its warmest stays
    as warm as it was."""
    sigma = max(values.shape) / 16
    down, across = (_gaussian(length, sigma) for length in values.shape)
    soft = down @ values @ across.T
    warmest = float(soft.max(initial=0.0))
    if warmest > 0:
        soft *= float(values.max()) / warmest
    return soft.astype(np.float32)


def _gaussian(length: int, sigma: float) -> NDArray[np.float64]:
    """(length, length): the share of each cell in each other; rows sum to 1."""
    apart = np.subtract.outer(np.arange(length), np.arange(length))
    weights = np.exp(-((apart / sigma) ** 2) / 2)
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _enlarged(values: FloatArray, width: int, height: int) -> NDArray[np.float64]:
    """(rows, columns) to (height, width), bilinear between the cells' centres."""
    rows, columns = values.shape
    across = _weights(columns, width)  # (width, columns)
    down = _weights(rows, height)  # (height, rows)
    result: NDArray[np.float64] = down @ values.astype(np.float64) @ across.T
    return result


def _weights(cells: int, pixels: int) -> NDArray[np.float64]:
    """(pixels, cells): the shares of the cells in each pixel; each row sums to 1."""
    at = np.clip((np.arange(pixels) + 0.5) * cells / pixels - 0.5, 0, cells - 1)
    low = np.floor(at).astype(np.intp)
    high = np.minimum(low + 1, cells - 1)
    weights = np.zeros((pixels, cells))
    weights[np.arange(pixels), low] += 1 - (at - low)
    weights[np.arange(pixels), high] += at - low
    return weights


def _colours() -> NDArray[np.uint8]:
    """(256, 4) uint8: blue, green, red, opacity (ARGB32 in memory), premultiplied."""
    at = np.linspace(0, 1, 256)
    red, green, blue, opacity = (np.interp(at, _STOPS[:, 0], _STOPS[:, n]) for n in (1, 2, 3, 4))
    straight = np.stack([blue, green, red, np.full(256, 255.0)], axis=1)
    colours: NDArray[np.uint8] = np.rint(straight * opacity[:, None]).astype(np.uint8)
    return colours
