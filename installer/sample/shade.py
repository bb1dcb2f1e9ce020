"""Colour of each pixel: material, key light with soft shadow, sky with occlusion, reflections."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from installer.sample.camera import Seen, Surface
from installer.sample.light import Blockers, Light, key_directions, sky_directions
from installer.sample.mesh import FloatArray, floats, unit
from installer.sample.model import Material
from installer.sample.texture import Texture

_KEY_MAPS, _KEY_CELLS = 10, 576
_SKY_MAPS, _SKY_CELLS = 16, 192
_STEP = 3


@dataclass(frozen=True, slots=True)
class _Paint:
    """What materials say of each pixel (rows, columns, ...)."""

    colour: FloatArray
    gloss: FloatArray
    metal: FloatArray
    glow: FloatArray
    thin: FloatArray
    height: FloatArray


def shade(seen: Seen, scene: Surface, light: Light, blockers: Blockers) -> FloatArray:
    """Linear light (rows, columns, 3)."""
    paint = _paint(seen, scene.materials)
    normal = _dented(seen, paint.height)
    coarse = _coarse(seen)
    share = _key_share(seen, coarse, light, blockers)
    sky, open_share = _sky_light(seen, coarse, light, blockers)
    # the dents change how much of the light falls in, not what is hidden from the sky
    tilt = 0.65 + 0.35 * np.clip(np.einsum("yxi,yxi->yx", normal, seen.normal), 0, 1)
    key = _key_strength(seen.normal, normal, paint.thin, light) * share
    body = key[..., None] * floats(light.key) + sky * tilt[..., None]
    lit = paint.colour * body * (1 - paint.metal[..., None] * 0.9)
    lit += _reflection(seen, normal, paint, light, share, open_share)
    lit += (paint.colour - lit) * np.minimum(paint.glow, 1)[..., None]
    return floats(lit * np.maximum(paint.glow, 1)[..., None])


def _footprint(seen: Seen) -> FloatArray:
    """How much of the texture's side each pixel spans, (rows, columns)."""
    spans = []
    for axis in (0, 1):
        step = np.abs(np.diff(seen.uv, axis=axis))
        same = np.diff(seen.part, axis=axis) == 0
        span = np.where(same, np.sqrt((step**2).sum(axis=2)), np.inf)
        edge = [(0, 0), (0, 0)]
        edge[axis] = (0, 1)
        after = np.pad(span, edge, constant_values=np.inf)
        edge[axis] = (1, 0)
        nearest = np.minimum(after, np.pad(span, edge, constant_values=np.inf))
        spans.append(np.where(np.isfinite(nearest), nearest, 0))
    # between the short and the long side of the footprint: a sharp picture, little shimmer
    return np.asarray(np.sqrt(spans[0] * spans[1]) * 0.5 + np.maximum(*spans) * 0.35, np.float32)


def _paint(seen: Seen, materials: tuple[Material, ...]) -> _Paint:
    shape = seen.part.shape
    part, uv = seen.part.ravel(), seen.uv.reshape(-1, 2)
    footprint = _footprint(seen).ravel()
    colour = np.empty((len(part), 3), dtype=np.float32)
    numbers = np.zeros((5, len(part)), dtype=np.float32)
    order = np.argsort(part, kind="stable")
    present, first = np.unique(part[order], return_index=True)
    for index, where in zip(present, np.split(order, first[1:]), strict=True):
        material = materials[index]
        if isinstance(material.colour, Texture):
            colour[where] = material.colour.sample(uv[where], footprint[where])
        else:
            colour[where] = material.colour
        numbers[:4, where] = np.array(
            [[material.gloss], [material.metal], [material.glow], [material.thin]]
        )
        if material.relief is not None:
            numbers[4, where] = material.relief.sample(uv[where], footprint[where])[:, 0]
    return _Paint(colour.reshape(*shape, 3), *(each.reshape(shape) for each in numbers))


def _dented(seen: Seen, height: FloatArray) -> FloatArray:
    """Normals tilted by the materials' reliefs.

    Mikkelsen 2010, "Bump mapping unparametrized surfaces on the GPU": needs only differences
    between neighbouring pixels.
    """
    if not height.any():
        return seen.normal
    normal = seen.normal
    slopes, spans = [], []
    for axis in (1, 0):
        same = np.diff(seen.part, axis=axis) == 0
        edge = [(0, 0), (0, 0)]
        edge[axis] = (0, 1)
        slopes.append(np.pad(np.where(same, np.diff(height, axis=axis), 0), edge))
        run = np.where(same[..., None], np.diff(seen.point, axis=axis), 0)
        spans.append(np.pad(run, [*edge, (0, 0)]))
    across = np.cross(spans[1], normal)
    down = np.cross(normal, spans[0])
    size = np.einsum("yxi,yxi->yx", spans[0], across)[..., None]
    tilt = np.sign(size) * (slopes[0][..., None] * across + slopes[1][..., None] * down)
    dented = unit(np.abs(size) * normal - tilt)
    return np.where(np.abs(size) > 1e-9, dented, normal)


def _key_strength(
    smooth_normal: FloatArray, normal: FloatArray, thin: FloatArray, light: Light
) -> FloatArray:
    """How squarely the key light falls on each pixel, or comes through it; 0 … 1."""
    direction = light.direction.astype(np.float32)
    facing = normal @ direction
    # a dent must not catch light on a side that is turned away
    turned = np.clip((smooth_normal @ direction) * 8 + 0.5, 0, 1)
    return np.asarray(np.clip(facing, 0, 1) * turned + np.maximum(-facing, 0) * thin)


@dataclass(frozen=True, slots=True)
class _Coarse:
    """Every `_STEP`-th pixel, and how the others take values from it: for each of the four
    coarse neighbours its row and column (rows, columns) and its weight."""

    cut: tuple[slice, slice]
    neighbours: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    weights: tuple[FloatArray, ...]

    def spread(self, values: FloatArray) -> FloatArray:
        """Coarse values (.., .., channels) for every pixel."""
        total = np.zeros((*self.weights[0].shape, values.shape[2]), dtype=np.float32)
        for (row, column), weight in zip(self.neighbours, self.weights, strict=True):
            total += values[row, column] * weight[..., None]
        return total


def _coarse(seen: Seen) -> _Coarse:
    """Weights favour the coarse neighbours that lie on the same surface."""
    first = _STEP // 2
    cut = (slice(first, None, _STEP), slice(first, None, _STEP))
    point, normal = seen.point[cut], seen.normal[cut]
    rows, columns = seen.part.shape
    y, x = (np.arange(rows) - first) / _STEP, (np.arange(columns) - first) / _STEP
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    reach = np.maximum(seen.depth * 0.004, 0.1)
    neighbours, weights = [], []
    for down in (0, 1):
        for right in (0, 1):
            i = np.clip(top + down, 0, point.shape[0] - 1)[:, None]
            j = np.clip(left + right, 0, point.shape[1] - 1)[None, :]
            even = (1 - np.abs(y - top - down))[:, None] * (1 - np.abs(x - left - right))
            away = np.einsum("yxi,yxi->yx", seen.point - point[i, j], seen.normal) / reach
            alike = np.clip(np.einsum("yxi,yxi->yx", seen.normal, normal[i, j]), 0, 1) ** 4
            neighbours.append((i, j))
            weights.append(even.astype(np.float32) * (alike + 1e-3) / (1 + away**2) + 1e-6)
    total = weights[0] + weights[1] + weights[2] + weights[3]
    return _Coarse(cut, tuple(neighbours), tuple(weight / total for weight in weights))


def _key_share(seen: Seen, coarse: _Coarse, light: Light, blockers: Blockers) -> FloatArray:
    """The key light's visible share of each pixel, 0 … 1.

    First every few pixels; then all those exactly whose neighbourhood is not of one mind.
    """
    ways = key_directions(light, _KEY_MAPS)
    towards = light.direction.astype(np.float32)
    maps = [blockers.map(way, cells=_KEY_CELLS, seed=seed) for seed, way in enumerate(ways)]

    def exact(point: FloatArray, normal: FloatArray) -> FloatArray:
        side = np.where((normal @ towards < 0)[:, None], -normal, normal)
        share = np.zeros(len(point), dtype=np.float32)
        for each in maps:
            share += each.lit(point, side, soft=True)
        return floats(share / _KEY_MAPS)

    point, normal = seen.point[coarse.cut], seen.normal[coarse.cut]
    rough = exact(point.reshape(-1, 3), normal.reshape(-1, 3)).reshape(point.shape[:2])
    share = coarse.spread(rough[..., None])[..., 0]
    unsure = np.zeros(share.shape, dtype=bool)
    part = seen.part[coarse.cut]
    for row, column in coarse.neighbours:
        near = rough[row, column]
        unsure |= (part[row, column] != seen.part) | ((near > 0.004) & (near < 0.996))
        unsure |= np.abs(near - share) > 0.004
    unsure &= np.abs(seen.normal @ towards) > 1e-3
    share[unsure] = exact(seen.point[unsure], seen.normal[unsure])
    return share


def _sky_light(
    seen: Seen, coarse: _Coarse, light: Light, blockers: Blockers
) -> tuple[FloatArray, FloatArray]:
    """The sky's diffuse light (rows, columns, 3) and its visible share (rows, columns): so smooth
    that every few pixels are enough."""
    shape = seen.part[coarse.cut].shape
    point, normal = seen.point[coarse.cut].reshape(-1, 3), seen.normal[coarse.cut].reshape(-1, 3)
    ways = sky_directions(_SKY_MAPS)
    colours = light.around(ways.astype(np.float32))
    total = np.zeros((len(point), 3), dtype=np.float32)
    open_share = np.zeros(len(point), dtype=np.float32)
    for seed, (way, colour) in enumerate(zip(ways, colours, strict=True)):
        cosine = np.clip(normal @ way.astype(np.float32), 0, 1)
        free = blockers.map(way, cells=_SKY_CELLS, seed=seed).lit(point, normal, soft=False)
        open_share += free
        total += (cosine * free)[:, None] * colour
    open_share /= _SKY_MAPS
    total *= 2 / _SKY_MAPS
    # what the sky does not reach is lit by the things around: a dim, warm rest
    below = (0.5 - 0.5 * normal[:, 2]) * (0.4 + 0.6 * open_share)
    total += below[:, None] * floats(light.ground)
    total += 0.12 * floats(light.horizon)
    values = _calmed(
        np.column_stack([total, open_share]).reshape(*shape, 4),
        seen.point[coarse.cut],
        seen.normal[coarse.cut],
        seen.depth[coarse.cut],
    )
    fine = coarse.spread(values)
    return fine[..., :3], fine[..., 3]


def _calmed(
    values: FloatArray, point: FloatArray, normal: FloatArray, depth: FloatArray
) -> FloatArray:
    """Values (rows, columns, channels) averaged over their surface: the steps between the few
    directions of the sky melt away. Edge-avoiding à-trous filter (Dammertz et al. 2010)."""
    for step in (1, 2, 4):
        total = values.copy()
        weights = np.ones(values.shape[:2], dtype=np.float32)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            for sign in (-step, step):
                shift = (down * sign, right * sign)
                there = np.roll(point, shift, axis=(0, 1))
                away = np.einsum("yxi,yxi->yx", there - point, normal) / (depth * 0.006 + 0.1)
                other = np.roll(normal, shift, axis=(0, 1))
                alike = np.clip(np.einsum("yxi,yxi->yx", normal, other), 0, 1) ** 8
                weight = 0.7 * alike * np.exp(-np.minimum(away**2, 30.0))
                weight = _unwrapped(weight, shift)
                total += np.roll(values, shift, axis=(0, 1)) * weight[..., None]
                weights += weight
        values = total / weights[..., None]
    return values


def _unwrapped(weight: FloatArray, shift: tuple[int, int]) -> FloatArray:
    """The weights (rows, columns) without what a roll brought in from the far edge."""
    for axis, count in enumerate(shift):
        edge = [slice(None), slice(None)]
        edge[axis] = slice(0, count) if count > 0 else slice(count, None)
        if count:
            weight[tuple(edge)] = 0
    return weight


def _reflection(
    seen: Seen,
    normal: FloatArray,
    paint: _Paint,
    light: Light,
    key_share: FloatArray,
    open_share: FloatArray,
) -> FloatArray:
    """Mirrored surroundings and key light (rows, columns, 3)."""
    shine = np.zeros_like(paint.colour)
    where = np.nonzero((paint.gloss > 0.08) & (paint.glow < 1))
    facing_normal = normal[where]
    view = unit(seen.eye - seen.point[where])
    facing = np.clip(np.einsum("ni,ni->n", view, facing_normal), 0, 1)[:, None]
    mirrored = unit(2 * facing * facing_normal - view)
    gloss, metal = paint.gloss[where][:, None], paint.metal[where][:, None]
    base = 0.04 + (paint.colour[where] - 0.04) * metal
    fresnel = base + (np.maximum(gloss, base) - base) * (1 - facing) ** 5
    sharp = gloss**1.5
    blurred = light.around(unit(mirrored + facing_normal * 0.6))
    world = blurred + (light.around(mirrored) - blurred) * sharp
    world *= (0.25 + 0.75 * open_share[where][:, None]) * (1 + 0.8 * metal)
    window = _window(mirrored, light, gloss[:, 0]) * (0.15 + 0.85 * key_share[where])
    mirrored_light = world * (0.3 + 0.7 * sharp) + window[:, None] * floats(light.key)
    shine[where] = fresnel * mirrored_light
    return shine


def _window(way: FloatArray, light: Light, gloss: FloatArray) -> FloatArray:
    """The key light's mirror image (n,): window panes on glossy things, a haze on dull ones."""
    centre = light.direction.astype(np.float32)
    side = np.cross(centre, floats([0, 0, 1]))
    side /= np.linalg.norm(side)
    up = np.cross(side, centre)
    ahead = np.maximum(way @ centre, 1e-3)
    x, y = (way @ side) / ahead, (way @ up) / ahead
    rough = 0.02 + 0.55 * (1 - gloss) ** 2
    if light.panes == (0, 0):
        size = np.tan(np.radians(light.softness_deg))
        inside = 1 / (1 + ((x**2 + y**2) / (size**2 + rough**2)) ** 3)
        strength = size**2 / (size**2 + rough**2)
    else:
        half = floats(0.30)
        bars = _bar(x / half, light.panes[0], rough) * _bar(y / half, light.panes[1], rough)
        edge_x = 1 / (1 + np.exp(np.clip((np.abs(x) - half) / (rough * 0.4), -30, 30)))
        edge_y = 1 / (1 + np.exp(np.clip((np.abs(y) - half) / (rough * 0.4), -30, 30)))
        inside = edge_x * edge_y * bars
        strength = half**2 / (half**2 + rough**2)
    return np.asarray(np.where(way @ centre > 0, inside * strength * 4.0, 0), dtype=np.float32)


def _bar(place: FloatArray, count: int, rough: FloatArray) -> FloatArray:
    """1 on a pane, less on the bars between ``count`` panes over [-1, 1]."""
    if count < 2:
        return np.ones_like(place)
    within = np.abs(((place + 1) / 2 * count) % 1.0 - 0.5)
    bar = np.clip((within - 0.43) / 0.05, 0, 1) * (np.abs(place) < 1 - 0.5 / count)
    return np.asarray(1 - bar * np.clip(1 - rough * 4, 0, 1), dtype=np.float32)
