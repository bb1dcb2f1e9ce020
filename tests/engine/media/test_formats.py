"""Which files are pictures."""

from pathlib import Path

import pytest
from PIL import Image

from engine.media.formats import FORMATS, SUFFIXES, is_photo_name, sniff
from tests.engine.media.pictures import corners, decoded, encoded


@pytest.mark.parametrize(
    "name", ["a.jpg", "B.JPG", "c.JpEg", "d.heic", "e.HIF", "f.webp", "g.AVIF", ".hidden.png"]
)
def test_names_of_pictures(name: str) -> None:
    assert is_photo_name(Path("some") / name)


@pytest.mark.parametrize(
    "name", ["a.txt", "jpg", ".jpg", "a.jpg.part", "b.mp4", "c.eps", "d.svg", "e.pdf", "f.xmp", ""]
)
def test_names_of_other_files(name: str) -> None:
    assert not is_photo_name(Path("some") / name)


def test_every_suffix_belongs_to_a_decoder_that_may_run() -> None:
    Image.init()
    kinds = {suffix: Image.registered_extensions().get(suffix) for suffix in SUFFIXES}
    assert {suffix: kind for suffix, kind in kinds.items() if kind not in {*FORMATS, "MPO"}} == {}


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "JPEG2000", "AVIF"])
def test_content_counts_rather_than_the_suffix(kind: str, tmp_path: Path) -> None:
    data = encoded(Image.fromarray(corners()), kind)
    assert sniff(data[:64]) == kind
    path = tmp_path / "wrong.gif"
    path.write_bytes(data)
    assert decoded(path).facts.format == kind


@pytest.mark.parametrize(
    ("brands", "kind"),
    [
        (b"mif1\0\0\0\0mif1heic", "HEIF"),
        (b"mif1\0\0\0\0mif1avifmiaf", "AVIF"),
        (b"avif\0\0\0\0mif1miaf", "AVIF"),
        (b"heix\0\0\0\0mif1", "HEIF"),
        (b"isom\0\0\0\0mp41avc1", None),  # a film
        (b"qt  \0\0\0\0qt  ", None),
    ],
)
def test_containers_are_told_by_their_brands(brands: bytes, kind: str | None) -> None:
    head = (len(brands) + 8).to_bytes(4, "big") + b"ftyp" + brands
    assert sniff(head) == kind


@pytest.mark.parametrize(
    "head", [b"%!PS-Adobe-3.0 EPSF-3.0", b"<svg", b"%PDF-1.7", b"", b"\0" * 64]
)
def test_programs_and_documents_are_no_pictures(head: bytes) -> None:
    assert sniff(head) is None
