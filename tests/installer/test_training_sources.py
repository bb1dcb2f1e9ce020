"""Which files the training pictures are made of, and which never."""

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from installer.training_pictures.sources import art, clip_arts, distinct_arts, products
from tests.installer.painted import clip_art_folder, grocery_folder, painted


def test_left_out_files_and_links_are_not_listed(tmp_path: Path) -> None:
    folder = clip_art_folder(tmp_path / "art", 2)
    computer = folder / "computer" / "hardware"
    computer.mkdir(parents=True)
    for name in ("firewall_denco_01", "8port_switch_denco", "8port_hub"):
        painted(9).save(computer / f"{name}.png")
    (folder / "computer" / "again.png").symlink_to(computer / "8port_hub.png")
    assert [path.stem for path in clip_arts(folder)] == ["beast_00", "beast_01", "8port_hub"]


def test_only_the_first_half_of_the_products_is_listed(tmp_path: Path) -> None:
    folder = grocery_folder(tmp_path)
    (folder / "Zander").mkdir()
    assert [path.name for path in products(folder)] == ["Apple-Juice", "Oat-Milk"]


def test_a_fit_clip_art_is_cut_to_its_bounds(tmp_path: Path) -> None:
    framed = Image.new("RGBA", (900, 900))
    framed.paste(painted(1), (300, 500))
    framed.save(tmp_path / "a.png")
    found = art(tmp_path / "a.png")
    assert found is not None
    bounds = painted(1).getbbox()
    assert bounds is not None
    expected = (bounds[2] - bounds[0], bounds[3] - bounds[1])
    assert np.abs(np.subtract(found.size, expected)).max() <= 2


def test_unfit_clip_arts_are_refused(tmp_path: Path) -> None:
    full = Image.new("RGBA", (300, 300), "red")
    line = Image.new("RGBA", (300, 300))
    line.paste((0, 0, 0, 255), (0, 0, 300, 3))
    single = Image.new("RGBA", (300, 300))
    single.paste((0, 90, 0, 255), (0, 0, 300, 200))
    single.paste((0, 90, 0, 255), (0, 0, 100, 300))
    unfit = {
        "opaque": painted(1).convert("RGB"),
        "small": painted(1).resize((100, 90)),
        "full": full,
        "line": line,
        "single": single,
    }
    for name, picture in unfit.items():
        picture.save(tmp_path / f"{name}.png")
        assert art(tmp_path / f"{name}.png") is None, name
    (tmp_path / "broken.png").write_bytes((tmp_path / "small.png").read_bytes()[:200])
    assert art(tmp_path / "broken.png") is None


def test_huge_pictures_are_refused_by_their_header(tmp_path: Path) -> None:
    large = painted(1).resize((6000, 5400), Image.Resampling.NEAREST)
    large.save(tmp_path / "large.png", compress_level=1)
    assert art(tmp_path / "large.png") is None
    header = struct.pack(">IIBBBBB", 29_700, 20_990, 8, 6, 0, 0, 0)  # nothing follows
    chunk = b"IHDR" + header
    whole = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
    whole += struct.pack(">I", zlib.crc32(chunk)) + struct.pack(">I", 0) + b"IDAT"
    (tmp_path / "huge.png").write_bytes(whole)
    assert art(tmp_path / "huge.png") is None
    header = struct.pack(">IIBBBBB", 10_000, 10_000, 8, 6, 0, 0, 0)  # Pillow only warns of these
    chunk = b"IHDR" + header
    whole = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk
    whole += struct.pack(">I", zlib.crc32(chunk)) + struct.pack(">I", 0) + b"IDAT"
    (tmp_path / "wide.png").write_bytes(whole)
    assert art(tmp_path / "wide.png") is None


def test_the_same_picture_is_taken_once(tmp_path: Path) -> None:
    first = painted(1)
    copies = {
        "a": first,
        "b": first.resize((400, 360), Image.Resampling.BICUBIC),
        "c": ImageOps.mirror(first),
        "d": painted(2),
    }
    paths = []
    for name, picture in copies.items():
        paths.append(tmp_path / f"{name}.png")
        picture.save(paths[-1])
    assert [path.stem for path, _ in distinct_arts(paths)] == ["a", "d"]
