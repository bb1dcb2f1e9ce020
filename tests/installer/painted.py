"""Small sources for the composer of training pictures, painted by the tests."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

ART_SIZE = (200, 180)


def painted(seed: int) -> Image.Image:
    """A clip art of its own: coloured ellipses and boxes on a clear ground."""
    rng = np.random.default_rng(seed)
    picture = Image.new("RGBA", ART_SIZE)
    pen = ImageDraw.Draw(picture)
    for _ in range(7):
        x, y = int(rng.integers(0, 130)), int(rng.integers(0, 110))
        bounds = (x, y, x + int(rng.integers(30, 70)), y + int(rng.integers(30, 70)))
        red, green, blue = (int(each) for each in rng.integers(0, 256, 3))
        shape = pen.ellipse if rng.random() < 0.5 else pen.rectangle
        shape(bounds, fill=(red, green, blue, 255))
    return picture


def clip_art_folder(folder: Path, count: int) -> Path:
    (folder / "animals").mkdir(parents=True)
    for index in range(count):
        painted(index).save(folder / "animals" / f"beast_{index:02d}.png")
    return folder


def grocery_folder(folder: Path) -> Path:
    """Four products; what belongs to the second half is no JPEG and cannot be opened."""
    for index, product in enumerate(("Apple-Juice", "Oat-Milk", "Sour-Cream", "Yoghurt")):
        (folder / product).mkdir(parents=True)
        for photo in range(2):
            path = folder / product / f"{product}_{photo}.jpg"
            if index < 2:
                shot = painted(100 + index * 2 + photo).convert("RGB")
                shot.save(path, quality=90)
            else:
                path.write_bytes(b"not to be opened")
    (folder / "LICENSE").write_text("The licence of the groceries\n", encoding="utf-8")
    return folder
