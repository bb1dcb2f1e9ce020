"""Content identity: what makes two files the same photo."""

import hashlib
import io
from pathlib import Path


def identity(path: Path) -> str:
    """BLAKE2b-128 of all bytes of a file as 32 hexadecimal digits.

    Reads in chunks: memory does not grow with the file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return identity_of_stream(stream)


def identity_of_stream(stream: io.BufferedReader | io.BytesIO) -> str:
    """The same for what is left of an open file or of bytes in memory."""
    return hashlib.file_digest(stream, _new_hash).hexdigest()


def _new_hash() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=16)
