"""Materials of rooms and gardens: wood, plaster, cloth, tiles, bricks, grass, sand."""

from functools import cache

import numpy as np
from PIL import Image

from installer.sample.mesh import FloatArray, floats
from installer.sample.model import Material
from installer.sample.texture import Texture, rgb


def noise(shape: tuple[int, int], cells: tuple[int, int], *, seed: int) -> FloatArray:
    """Smooth random values in about [-1, 1] (rows, columns) that repeat without a seam."""
    rng = np.random.default_rng(seed)
    coarse = rng.uniform(-1, 1, cells).astype(np.float32)
    wrapped = np.pad(coarse, 2, mode="wrap")
    scale = (shape[0] / cells[0], shape[1] / cells[1])
    size = (round((cells[1] + 4) * scale[1]), round((cells[0] + 4) * scale[0]))
    large = np.asarray(Image.fromarray(wrapped).resize(size, Image.Resampling.BICUBIC))
    top, left = round(2 * scale[0]), round(2 * scale[1])
    return large[top : top + shape[0], left : left + shape[1]]


def clouds(
    shape: tuple[int, int], cells: tuple[int, int], *, seed: int, octaves: int = 4
) -> FloatArray:
    """Noise of several scales, each half as strong and twice as fine."""
    total = np.zeros(shape, dtype=np.float32)
    for octave in range(octaves):
        scaled = (
            min(cells[0] << octave, shape[0]),
            min(cells[1] << octave, shape[1]),
        )
        total += noise(shape, scaled, seed=seed + octave) * floats(0.5**octave)
    return total / floats(1.6)


def mixed(low: str, high: str, share: FloatArray) -> FloatArray:
    """Colours between two codes (rows, columns, 3), mixed in linear light."""
    a, b = floats(rgb(low)), floats(rgb(high))
    return np.asarray(a + (b - a) * np.clip(share, 0, 1)[..., None], dtype=np.float32)


def _wood_share(shape: tuple[int, int], seed: int) -> FloatArray:
    """Grain along the columns, 0 light … 1 dark."""
    wave = noise(shape, (6, 2), seed=seed) * 0.9 + noise(shape, (14, 4), seed=seed + 1) * 0.25
    across = np.linspace(0, 1, shape[0], endpoint=False, dtype=np.float32)[:, None]
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (across * 9 + wave * 1.3))
    fibre = noise(shape, (shape[0] // 2, 12), seed=seed + 2)
    fine = noise(shape, (shape[0] // 6, 5), seed=seed + 3)
    return np.asarray(0.32 * rings**2 + 0.22 * fibre + 0.22 * fine + 0.3, dtype=np.float32)


@cache
def wood(light: str, dark: str, *, seed: int = 1, gloss: float = 0.32) -> Material:
    """One board, grain along u."""
    share = _wood_share((256, 512), seed)
    return Material(Texture.of(mixed(light, dark, share)), gloss, relief=Texture.of(-0.012 * share))


@cache
def planks(light: str, dark: str, *, count: int = 6, seed: int = 1, gloss: float = 0.3) -> Material:
    """Boards side by side, grain along u; the joints are dark and deep."""
    rows, columns = 768, 768
    rng = np.random.default_rng(seed)
    height = rows // count
    share = np.zeros((rows, columns), dtype=np.float32)
    depth = np.zeros((rows, columns), dtype=np.float32)
    for index in range(count):
        board = np.roll(
            _wood_share((height, columns), seed * 31 + index), rng.integers(columns), axis=1
        )
        part = slice(index * height, (index + 1) * height)
        share[part] = board + rng.uniform(-0.14, 0.14)
        depth[part] = -0.012 * board
        share[index * height : index * height + 2] += 0.8
        depth[index * height : index * height + 3] -= 0.12
    return Material(Texture.of(mixed(light, dark, share)), gloss, relief=Texture.of(depth))


@cache
def parquet(light: str, dark: str, *, seed: int = 3, gloss: float = 0.4) -> Material:
    """Short boards in a brick bond."""
    rows, columns, high, long = 768, 768, 64, 256
    rng = np.random.default_rng(seed)
    share = np.zeros((rows, columns), dtype=np.float32)
    depth = np.zeros((rows, columns), dtype=np.float32)
    for row in range(rows // high):
        shift = int(rng.integers(columns))
        line = slice(row * high, (row + 1) * high)
        for column in range(columns // long):
            board = _wood_share((high, long), seed * 97 + row * 8 + column)
            board = board + rng.uniform(-0.16, 0.16)
            board[:, :2] += 0.5
            share[line, column * long : (column + 1) * long] = board
        share[line] = np.roll(share[line], shift, axis=1)
        share[row * high : row * high + 2] += 0.5
        depth[row * high : row * high + 2] = -0.08
    return Material(Texture.of(mixed(light, dark, share)), gloss, relief=Texture.of(depth))


@cache
def plaster(colour: str, shade: str, *, seed: int = 5, rough: float = 0.05) -> Material:
    """A painted wall, a little uneven."""
    large = clouds((512, 512), (3, 3), seed=seed)
    fine = clouds((512, 512), (64, 64), seed=seed + 9, octaves=3)
    share = 0.5 + 0.55 * large + 0.12 * fine
    return Material(Texture.of(mixed(colour, shade, share)), 0.06, relief=Texture.of(rough * fine))


@cache
def cloth(colour: str, shade: str, *, seed: int = 7, threads: int = 96) -> Material:
    """A plain woven cloth."""
    place = np.arange(512, dtype=np.float32) / 512 * threads * 2 * np.pi
    weave = np.sin(place)[:, None] * np.sin(place)[None, :]
    uneven = clouds((512, 512), (4, 4), seed=seed)
    slubs = noise((512, 512), (128, 8), seed=seed + 5) + noise((512, 512), (8, 128), seed=seed + 6)
    share = 0.45 + 0.18 * weave + 0.3 * uneven + 0.14 * slubs
    return Material(
        Texture.of(mixed(colour, shade, share)),
        0.03,
        relief=Texture.of(0.02 * weave + 0.02 * slubs),
        thin=0.1,
    )


@cache
def checked(ground: str, line: str, *, cells: int = 8, seed: int = 8) -> Material:
    """A gingham cloth: stripes both ways, darker where they cross."""
    place = (np.arange(768) * cells * 2 // 768) % 2
    stripes = (place[:, None] + place[None, :]) / 2
    weave = noise((768, 768), (256, 256), seed=seed)
    fold = clouds((768, 768), (3, 3), seed=seed + 3)
    share = stripes * 0.92 + 0.05 * weave + 0.05 * fold
    return Material(
        Texture.of(mixed(ground, line, share.astype(np.float32))),
        0.03,
        relief=Texture.of(0.015 * weave + 0.1 * fold),
        thin=0.1,
    )


@cache
def striped(colours: tuple[str, ...], *, seed: int = 9) -> Material:
    """A rug or blanket: bands of the colours along u, woven."""
    rows, columns = 768, 512
    rng = np.random.default_rng(seed)
    edges = np.sort(rng.choice(np.arange(20, rows - 20, 14), len(colours) * 3, replace=False))
    band = np.searchsorted(edges, np.arange(rows))
    base = floats([rgb(colours[index % len(colours)]) for index in band])
    weave = noise((rows, columns), (rows // 4, columns // 4), seed=seed)
    uneven = clouds((rows, columns), (4, 4), seed=seed + 1)
    picture = base[:, None, :] * (1 + 0.16 * weave + 0.1 * uneven)[..., None]
    return Material(Texture.of(picture), 0.02, relief=Texture.of(0.05 * weave), thin=0.05)


@cache
def tiles(
    colour: str,
    shade: str,
    joint: str,
    *,
    across: int = 6,
    down: int = 6,
    seed: int = 11,
    gloss: float = 0.75,
    bond: float = 0.0,
) -> Material:
    """Glazed tiles, each a little different; ``bond`` shifts every other row."""
    rows = columns = 768
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    line = y * down / rows
    place = x * across / columns + bond * (np.floor(line) % 2)
    tone = rng.uniform(0, 1, (down, across + 1)).astype(np.float32)
    share = tone[np.floor(line).astype(int), np.floor(place).astype(int) % across]
    share = share * 0.7 + 0.25 * clouds((rows, columns), (12, 12), seed=seed + 1)
    edge_x = np.abs(place % 1 - 0.5) * columns / across
    edge_y = np.abs(line % 1 - 0.5) * rows / down
    gap = np.maximum(edge_x - columns / across / 2, edge_y - rows / down / 2)
    seam = np.clip((gap + 5) / 2.5, 0, 1)[..., None]
    picture = mixed(colour, shade, share) * (1 - seam) + floats(rgb(joint)) * seam
    depth = -0.12 * np.clip((gap + 7) / 5, 0, 1)
    depth += 0.01 * clouds((rows, columns), (10, 10), seed=seed + 2)
    return Material(Texture.of(picture), gloss, relief=Texture.of(depth))


@cache
def bricks(colour: str, shade: str, joint: str, *, seed: int = 13) -> Material:
    """A brick wall; u spans 6 bricks, v 16 rows."""
    made = tiles(colour, shade, joint, across=6, down=16, seed=seed, gloss=0.05, bond=0.5)
    assert isinstance(made.colour, Texture)
    grit = clouds((768, 768), (96, 96), seed=seed + 4, octaves=3)
    stain = clouds((768, 768), (5, 5), seed=seed + 6)
    picture = made.colour.levels[0] * (1 + 0.2 * grit + 0.25 * stain)[..., None]
    assert made.relief is not None
    depth = made.relief.levels[0][..., 0] * 4 + 0.12 * grit
    return Material(Texture.of(picture), 0.05, relief=Texture.of(depth))


@cache
def ground(colour: str, shade: str, *, seed: int = 15, rough: float = 0.4) -> Material:
    """Sand, soil or a lawn seen from afar."""
    fine = clouds((768, 768), (128, 128), seed=seed, octaves=3)
    large = clouds((768, 768), (6, 6), seed=seed + 4)
    share = 0.5 + 0.35 * fine + 0.45 * large
    return Material(Texture.of(mixed(colour, shade, share)), 0.02, relief=Texture.of(rough * fine))


@cache
def paint(colour: str, *, gloss: float = 0.4) -> Material:
    return Material(rgb(colour), gloss)


@cache
def brass(colour: str = "#d9a94e", *, gloss: float = 0.75) -> Material:
    return Material(rgb(colour), gloss, metal=1.0)
