"""Whether an ISO base media file (HEIC, AVIF) is whole.

libheif shows what it can of a file that was cut short, without an error, so that half a photo
would pass for a photo.
"""

import os
from typing import BinaryIO

from engine.errors import PhotoUnreadableError

_NEEDED = frozenset({b"ftyp", b"meta", b"mdat", b"moov"})


def check_complete(stream: BinaryIO) -> None:
    """Walk the outermost boxes: those that matter must end inside the file.

    Layout: ISO/IEC 14496-12, section 4.2. What phones append behind the boxes is let be.

    Raises:
        PhotoUnreadableError: the file ends before one of them.
    """
    length = stream.seek(0, os.SEEK_END)
    at = 0
    while at < length:
        stream.seek(at)
        head = stream.read(16)
        size, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if size == 1:
            size = int.from_bytes(head[8:16], "big")
        if kind in _NEEDED and at + size > length:
            raise PhotoUnreadableError("the file is damaged (it is cut short)")
        if size < 8:  # 0: the last box, up to the end of the file; else no box at all
            return
        at += size
