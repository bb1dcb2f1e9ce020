"""Whatever a decoder raises -> one readable line as a typed error."""

import errno
import struct
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from engine.errors import (
    PhotoError,
    PhotoMissingError,
    PhotoTooLargeError,
    PhotoUnreadableError,
)

_GONE = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ESTALE, errno.ENOTCONN, errno.ENODEV, errno.ENXIO}
    | {getattr(errno, name) for name in ("EHOSTDOWN", "EHOSTUNREACH") if hasattr(errno, name)}
)
_SPEAKING = (OSError, SyntaxError, ValueError)
_LONGEST_DETAIL = 120


def too_large(pixels: tuple[int, int], max_pixels: int) -> PhotoTooLargeError:
    """For a picture whose header claims more than may be decoded."""
    width, height = pixels
    return PhotoTooLargeError(
        f"the picture of {width:,} × {height:,} pixels is larger than the limit of "
        f"{max_pixels / 1e6:,.0f} megapixels"
    )


def photo_error(error: Exception, path: Path | None) -> PhotoError:
    """The typed error for what was raised while a file was read and decoded.

    Decoders raise far more than OSError on damaged files (TypeError, IndexError, SyntaxError,
    struct.error, …): all become `PhotoUnreadableError`.
    """
    if isinstance(error, PhotoError):
        error.path = path
        return error
    if isinstance(error, MemoryError):
        return PhotoTooLargeError("the picture needs more memory than there is", path=path)
    if isinstance(error, Image.DecompressionBombError):
        return PhotoTooLargeError("the picture has too many pixels to be decoded", path=path)
    if isinstance(error, UnidentifiedImageError):
        return PhotoUnreadableError("the file is damaged and cannot be opened", path=path)
    if isinstance(error, OSError) and error.errno is not None:
        return _system_error(error, path)
    detail = _detail(error)
    said = f" ({detail})" if detail else ""
    return PhotoUnreadableError(f"the file is damaged{said}", path=path)


def _system_error(error: OSError, path: Path | None) -> PhotoError:
    if error.errno in _GONE:
        return PhotoMissingError("the file is not there", path=path)
    if isinstance(error, PermissionError):
        return PhotoUnreadableError("there is no permission to read the file", path=path)
    if isinstance(error, IsADirectoryError):
        return PhotoUnreadableError("this is a folder, not a picture", path=path)
    what = error.strerror or type(error).__name__
    return PhotoUnreadableError(f"the file could not be read ({what})", path=path)


def _detail(error: Exception) -> str:
    """What the decoder says, where it is meant for people."""
    if isinstance(error, SyntaxError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # what Pillow makes of all that a plugin raises on opening
    words = " ".join(str(error).split())
    if isinstance(error, EOFError | struct.error) or "truncated" in words.lower():
        return "it is cut short"
    if not isinstance(error, _SPEAKING) or words.startswith("decoder error"):
        return ""
    return words if len(words) <= _LONGEST_DETAIL else words[: _LONGEST_DETAIL - 1] + "…"
