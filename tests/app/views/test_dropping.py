"""Report 40: what a file manager, a browser or another program drops is understood."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.views.dropping import (
    DroppedFolders,
    DroppedPicture,
    Refused,
    offers,
    read,
)
from tests.fakes.painted import paint

PNG_START = b"\x89PNG"


def urls(*addresses: str | Path) -> QMimeData:
    mime = QMimeData()
    mime.setUrls(
        [QUrl.fromLocalFile(str(one)) if isinstance(one, Path) else QUrl(one) for one in addresses]
    )
    return mime


def test_report_40_a_file_from_a_file_manager(tmp_path: Path) -> None:
    file = paint(tmp_path / "ein Bild – 日本.jpg", 1)
    dropped = read(urls(file))
    assert isinstance(dropped, DroppedPicture)
    assert dropped.picture.path == file
    assert dropped.others == 0
    assert offers(urls(file)) is DroppedPicture


def test_report_40_several_files_are_the_first_and_a_number(tmp_path: Path) -> None:
    files = [paint(tmp_path / f"{n}.jpg", n) for n in range(3)]
    dropped = read(urls(*files))
    assert isinstance(dropped, DroppedPicture)
    assert (dropped.picture.path, dropped.others) == (files[0], 2)


def test_report_40_a_folder_is_to_be_added(tmp_path: Path) -> None:
    assert read(urls(tmp_path)) == DroppedFolders((tmp_path,))
    assert offers(urls(tmp_path)) is DroppedFolders


def test_report_40_image_data_from_another_program(qapp: QApplication) -> None:
    image = QImage(40, 30, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    mime = QMimeData()
    mime.setImageData(image)
    dropped = read(mime)
    assert isinstance(dropped, DroppedPicture)
    assert dropped.picture.data is not None
    back = QImage.fromData(dropped.picture.data)
    assert (back.width(), back.height()) == (40, 30)
    assert back.pixelColor(20, 15) == QColor("teal")
    assert offers(mime) is DroppedPicture


@pytest.mark.parametrize("kind", ["application/octet-stream", "image/jpeg", "image/webp"])
def test_report_40_bytes_are_taken_as_they_are(tmp_path: Path, kind: str) -> None:
    data = paint(tmp_path / "a.jpg", 1).read_bytes()
    mime = QMimeData()
    mime.setData(kind, data)
    dropped = read(mime)
    assert isinstance(dropped, DroppedPicture)
    assert dropped.picture.data == data
    assert offers(mime) is DroppedPicture


def test_report_40_a_picture_dragged_out_of_a_page_brings_its_bytes(tmp_path: Path) -> None:
    data = paint(tmp_path / "a.png", 1).read_bytes()
    mime = urls("https://example.org/cat.png")
    mime.setData("image/png", data)
    dropped = read(mime)
    assert isinstance(dropped, DroppedPicture)
    assert dropped.picture.data is not None
    assert dropped.picture.data.startswith(PNG_START)


@pytest.mark.parametrize(
    "address", ["http://example.org/cat.jpg", "https://example.org/", "ftp://example.org/a"]
)
def test_report_40_a_link_is_refused_with_the_reason(address: str) -> None:
    for mime in (urls(address), _text(address)):
        dropped = read(mime)
        assert isinstance(dropped, Refused)
        assert "link" in dropped.words.message
        assert "example.org" in dropped.words.cause
        assert "never fetches" in dropped.words.cause
        assert "Save the picture" in dropped.words.what_to_do
        assert offers(mime) is Refused


def test_report_40_what_is_no_picture_is_refused_with_the_reason() -> None:
    for mime in (QMimeData(), _text("hello"), _bytes(b"")):
        dropped = read(mime)
        assert isinstance(dropped, Refused)
        assert "no picture" in dropped.words.message
        assert dropped.words.what_to_do


def _text(text: str) -> QMimeData:
    mime = QMimeData()
    mime.setText(text)
    return mime


def _bytes(data: bytes) -> QMimeData:
    mime = QMimeData()
    mime.setData("application/octet-stream", data)
    return mime
