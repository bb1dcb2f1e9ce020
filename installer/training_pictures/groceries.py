"""Photos of packaged goods: as they are, and cut out roughly as things."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from installer.sample.mesh import floats
from installer.training_pictures.lighting import Lamp, shaded
from installer.training_pictures.warp import cropped, tilted

_LONGEST_PX = 400


def photos(product: Path) -> list[Path]:
    return sorted(product.glob("*.jpg"))


def photo(path: Path) -> Image.Image:
    """RGB, upright as stored, _LONGEST_PX at its longest."""
    with Image.open(path) as opened:
        opened.draft("RGB", (_LONGEST_PX, _LONGEST_PX))
        picture = ImageOps.exif_transpose(opened).convert("RGB")
    picture.thumbnail((_LONGEST_PX, _LONGEST_PX), Image.Resampling.LANCZOS)
    return picture


def cut_out(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """RGBA: the middle of the photo in a box or ellipse with a soft edge, turned a little."""
    width, height = picture.size
    across, down = rng.uniform(0.45, 0.75), rng.uniform(0.6, 0.9)
    left, top = width * (1 - across) / 2, height * (1 - down) / 2
    shape = Image.new("L", picture.size)
    pen = ImageDraw.Draw(shape)
    bounds = (left, top, width - left, height - top)
    if rng.random() < 0.3:
        pen.ellipse(bounds, fill=255)
    else:
        pen.rounded_rectangle(bounds, radius=float(rng.uniform(0, 0.12)) * width, fill=255)
    soft = shape.filter(ImageFilter.GaussianBlur(float(rng.uniform(1, 4))))
    made = picture.convert("RGBA")
    made.putalpha(soft)
    made = cropped(made)
    lamp = Lamp.chance(rng)
    bright = np.full((made.height, made.width), lamp.on(floats([0, 0, -1])), dtype=np.float32)
    return tilted(shaded(made, bright, 0.0), rng, yaw_deg=35, pitch_deg=20)
