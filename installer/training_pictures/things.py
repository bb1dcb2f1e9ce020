"""A clip art made a thing: a figure in relief, a card, a box or a can that it is printed on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from scipy.ndimage import distance_transform_edt, gaussian_filter

from installer.sample.mesh import FloatArray, floats
from installer.training_pictures.lighting import Lamp, ramp, shaded
from installer.training_pictures.surfaces import colour
from installer.training_pictures.warp import cropped, drawn, projected, rectangle, rotation, turned

SPRITE_PX = 320  # longest side of a thing as `look` draws it

_FIGURE, _CARD, _BOX, _CAN = "figure", "card", "box", "can"
_KINDS = (_FIGURE, _CARD, _BOX, _CAN)
_ODDS = (0.4, 0.15, 0.27, 0.18)
_LETTERS = "AABCDEEFGHIIKLMNOOPRSTUVZ"


@dataclass(frozen=True, slots=True, eq=False)
class Thing:
    """``faces``: RGBA pictures of the front and, of a box, the side and the top. ``normals`` of
    the front (rows, columns, 3), towards the viewer where z is negative. ``depth`` of a box in
    its front's width. ``gloss``: 0 chalk … 1 polished."""

    kind: str
    faces: tuple[Image.Image, ...]
    normals: FloatArray
    gloss: float
    depth: float = 0.0


def thing(art: Image.Image, surfaces: Sequence[Image.Image], rng: np.random.Generator) -> Thing:
    """What the clip art is printed on, or shaped into, and of which stuff, is chance."""
    kind = str(rng.choice(_KINDS, p=_ODDS))
    gloss = float(rng.uniform(0, 0.5))
    grain = surfaces[int(rng.integers(len(surfaces)))]
    strength = float(rng.uniform(0.05, 0.35))
    if kind == _FIGURE:
        front = _grained(art, grain, strength)
        return Thing(kind, (front,), _relief(art, rng), gloss)
    ground = colour(rng, pale=bool(rng.random() < 0.6))
    sheet = printed(art, ground, grain, strength, rng)
    flat = np.broadcast_to(floats([0, 0, -1]), (sheet.height, sheet.width, 3))
    if kind == _BOX:
        side = _side(ground, art, (sheet.width // 2 + 1, sheet.height), rng)
        top = _side(ground, None, (sheet.width, sheet.width // 2 + 1), rng)
        sides = tuple(_grained(face, grain, strength) for face in (side, top))
        return Thing(kind, (sheet, *sides), flat, gloss, float(rng.uniform(0.25, 0.9)))
    return Thing(kind, (sheet,), flat, gloss)


def look(made: Thing, lamp: Lamp, rng: np.random.Generator) -> Image.Image:
    """The thing from somewhere before it, under ``lamp``: RGBA, without clear borders."""
    roll = float(rng.uniform(-180, 180) if rng.random() < 0.1 else rng.normal(0, 12))
    if made.kind == _BOX:
        return _box(made, lamp, rng, roll)
    if made.kind == _CAN:
        return _can(made, lamp, rng, roll)
    turn = rotation(float(rng.uniform(-48, 48)), float(rng.uniform(-32, 32)), roll)
    front = _lit(made.faces[0], made, lamp, rng)
    corners = turned(front.width, front.height, turn, distance=float(rng.uniform(1.6, 5)))
    return _fitted([(front, corners)])


def _grained(picture: Image.Image, grain: Image.Image, strength: float) -> Image.Image:
    """The picture as if made of, or printed on, the stuff of ``grain``."""
    stuff = np.asarray(grain.convert("L").resize(picture.size), dtype=np.float32) / 255
    return shaded(picture, 1 + strength * 4 * (stuff - stuff.mean()), 0.0)


def _relief(art: Image.Image, rng: np.random.Generator) -> FloatArray:
    """Normals of the clip art swollen like a cushion, its inner lines embossed."""
    pixels = np.asarray(art, dtype=np.float32) / 255
    alpha = pixels[..., 3]
    inside = np.pad(alpha > 0.5, 1)
    away = distance_transform_edt(inside)[1:-1, 1:-1]
    round_px = max(float(rng.uniform(0.05, 0.25)) * max(art.size), 4.0)
    height = round_px * np.sqrt(np.clip(1 - (1 - np.minimum(away / round_px, 1)) ** 2, 0, 1))
    height = gaussian_filter(height, 1.5) + rng.uniform(0, 6) * gaussian_filter(
        pixels[..., :3].mean(axis=2) * alpha, 1.0
    )
    down, right = np.gradient(height)
    normals = np.stack([-right, -down, -np.ones_like(right)], axis=2)
    return floats(normals / np.linalg.norm(normals, axis=2, keepdims=True))


def printed(
    art: Image.Image, ground: str, grain: Image.Image, strength: float, rng: np.random.Generator
) -> Image.Image:
    """The clip art on a sheet of one colour, with a band and words as packagings have."""
    share = float(rng.uniform(0.6, 0.92))
    room = float(rng.uniform(1.0, 1.35))
    width, height = round(art.width / share), round(art.height / share * room)
    sheet = Image.new("RGBA", (width, height), ground)
    pen = ImageDraw.Draw(sheet)
    at_top = bool(rng.random() < 0.5)
    band = height - round(height / room)
    if band > 10:
        top = 0 if at_top else height - band
        pen.rectangle((0, top, width, top + band), fill=colour(rng))
        word = "".join(rng.choice(list(_LETTERS), int(rng.integers(3, 8))))
        font = ImageFont.load_default(size=max(band * 0.6, 9))
        pen.text(
            (width / 2, top + band / 2), word, fill=colour(rng, pale=True), font=font, anchor="mm"
        )
    free = height - band
    left, upper = (width - art.width) // 2, (free - art.height) // 2 + (band if at_top else 0)
    sheet.alpha_composite(art, (max(left, 0), max(upper, 0)))
    sheet.thumbnail((SPRITE_PX, SPRITE_PX))
    return _grained(sheet, grain, strength)


def _side(
    ground: str, art: Image.Image | None, size: tuple[int, int], rng: np.random.Generator
) -> Image.Image:
    """Another face of a box: its colour, lines of small print, perhaps the art once more."""
    face = Image.new("RGBA", size, ground)
    pen = ImageDraw.Draw(face)
    ink = colour(rng)
    for line in range(int(rng.integers(0, 9))):
        y = size[1] * (0.5 + line * 0.05)
        pen.line((size[0] * 0.15, y, size[0] * rng.uniform(0.4, 0.9), y), fill=ink, width=2)
    if art is not None:
        small = art.copy()
        small.thumbnail((size[0] * 3 // 4, size[1] * 2 // 5))
        face.alpha_composite(small, ((size[0] - small.width) // 2, size[1] // 16))
    return face


def _lit(face: Image.Image, made: Thing, lamp: Lamp, rng: np.random.Generator) -> Image.Image:
    light = lamp.on(made.normals) * ramp(rng, made.normals.shape[:2], float(rng.uniform(0, 0.35)))
    shine = made.gloss * 0.6 * lamp.gloss(made.normals, 24.0) * (made.kind == _FIGURE)
    return shaded(face, light, shine)


def _fitted(
    faces: Sequence[tuple[Image.Image, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]],
) -> Image.Image:
    """The faces on their corners (4, 2) each, the first drawn first, scaled to SPRITE_PX."""
    every = np.concatenate([corners for _, corners in faces])
    lowest, extent = every.min(axis=0), np.ptp(every, axis=0)
    scale = (SPRITE_PX - 4) / max(float(extent.max()), 1e-6)
    size = (int(extent[0] * scale) + 4, int(extent[1] * scale) + 4)
    whole = Image.new("RGBA", size)
    for face, corners in faces:
        whole.alpha_composite(drawn(face, (corners - lowest) * scale + 2, size))
    return cropped(whole)


def _box(made: Thing, lamp: Lamp, rng: np.random.Generator, roll: float) -> Image.Image:
    """The front, one side and the top of a box, each with its own brightness."""
    front, side, top = made.faces
    width, height = front.size
    deep = made.depth * width
    yaw, pitch = float(rng.uniform(-55, 55)), float(rng.uniform(0, 35))
    turn = rotation(yaw, pitch, roll)
    distance = float(rng.uniform(2, 6)) * max(width, height)
    x, y, z = width / 2, height / 2, deep / 2
    right = yaw > 0
    edge = x if right else -x
    ends = (-z, z) if right else (z, -z)  # the face's left edge first, as seen from outside
    faces = (
        (side, [[edge, -y, ends[0]], [edge, -y, ends[1]], [edge, y, ends[1]], [edge, y, ends[0]]],
         [1.0 if right else -1.0, 0, 0]),
        (top, [[-x, -y, z], [x, -y, z], [x, -y, -z], [-x, -y, -z]], [0, -1.0, 0]),
        (front, [[-x, -y, -z], [x, -y, -z], [x, y, -z], [-x, y, -z]], [0, 0, -1.0]),
    )  # fmt: skip
    seen = []
    for face, points, normal in faces:
        corners = np.array(points, dtype=np.float64) @ turn.T
        away = turn @ np.array(normal)
        middle = corners.mean(axis=0) + np.array([0, 0, distance])
        if away @ middle >= 0:  # turned away
            continue
        bright = float(lamp.on(floats(away)))
        level = ramp(rng, (face.height, face.width), float(rng.uniform(0, 0.3))) * floats(bright)
        seen.append((shaded(face, level, 0.0), projected(corners, distance=distance)))
    return _fitted(seen)


def _can(made: Thing, lamp: Lamp, rng: np.random.Generator, roll: float) -> Image.Image:
    """The sheet wrapped round a cylinder, some of its front to be seen; with a lid."""
    sheet = np.asarray(made.faces[0])
    rows, columns = sheet.shape[:2]
    radius = columns / 2.4  # the front half shows the sheet a little compressed
    tilt = float(rng.uniform(0.05, 0.5))
    wide, rim = round(2 * radius), round(radius * tilt)
    x = (np.arange(wide) + 0.5) / radius - 1
    round_px = (np.sqrt(np.clip(1 - x * x, 0, 1)) * rim).astype(np.int64)
    angle = np.arcsin(np.clip(x, -1, 1)) + np.radians(rng.uniform(-45, 45))
    u = np.floor((angle / np.pi * 1.3 + 0.5) * columns).astype(np.int64) % columns
    normals = np.stack([x, np.zeros_like(x), -np.sqrt(np.clip(1 - x * x, 0, 1))], axis=1)
    normals = floats(normals)
    light = np.broadcast_to(lamp.on(normals), (rows, wide))
    shine = made.gloss * 0.5 * np.broadcast_to(lamp.gloss(normals, 18.0), (rows, wide))
    wall = np.asarray(shaded(Image.fromarray(sheet[:, u]), light, shine))
    body = np.zeros((rows + 2 * rim + 2, wide, 4), dtype=np.uint8)
    place = np.arange(rows)[:, None] + rim + round_px[None, :]
    body[place, np.arange(wide)[None, :]] = wall
    whole = Image.fromarray(body, "RGBA")
    lid = _lid(made.faces[0], (wide, 2 * rim + 1), float(lamp.on(floats([0, -1, 0]))))
    disc = Image.new("L", lid.size)
    ImageDraw.Draw(disc).ellipse((0, 0, wide - 1, 2 * rim), fill=255)
    whole.paste(lid, (0, 0), disc)
    turn = rotation(0, 0, roll)
    corners = rectangle(*whole.size) @ turn[:2, :2].T
    return _fitted([(whole, corners)])


def _lid(sheet: Image.Image, size: tuple[int, int], bright: float) -> Image.Image:
    """A plain top in the sheet's mean colour."""
    plain = sheet.resize((1, 1), Image.Resampling.BOX).resize(size)
    return shaded(plain, np.full((size[1], size[0]), bright, dtype=np.float32), 0.0)
