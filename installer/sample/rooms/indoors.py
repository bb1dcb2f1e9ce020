"""Table, kitchen, shelf, window sill, sofa, desk, sideboard, bedside, children's floor."""

from installer.sample.lens import Film
from installer.sample.light import Light
from installer.sample.mesh import move, turn
from installer.sample.model import Part, Placed, moved, stand
from installer.sample.patterns import (
    checked,
    cloth,
    paint,
    parquet,
    planks,
    plaster,
    striped,
    tiles,
    wood,
)
from installer.sample.props.household import curtain, cushion, landscape
from installer.sample.rooms.room import (
    EVENING,
    LAMP,
    MORNING,
    NOON,
    SOFT,
    Room,
    beam,
    fixed,
    floor,
    outlook,
    pinned,
    wall,
)
from installer.sample.shapes import revolve, sheet, tube
from installer.sample.things.paper import framed


def table(
    paint_codes: tuple[str, str],
    wood_codes: tuple[str, str],
    *,
    light: Light = MORNING,
    runner: tuple[str, str] | None = None,
    film: Film | None = None,
    seed: int = 2,
) -> Room:
    """A wooden table before a painted wall, perhaps with a runner."""
    top = floor(planks(*wood_codes, count=5, seed=seed), 220, 110, y=5, repeat=(2.6, 1.6))
    back = wall(plaster(*paint_codes, seed=seed), 420, 240, y=62, z=-60, repeat=(2, 1.2))
    parts = [top, back]
    if runner is not None:
        strip = sheet(46, 112, cells=(8, 16)).mapped(scale=(1, 2.4))
        parts.append(Part(strip.moved(move(0, 5, 0.15)), cloth(*runner), casts=False))
    return Room((fixed(*parts),), light, film or Film())


def kitchen(
    tile_codes: tuple[str, str, str],
    counter: tuple[str, str],
    *,
    light: Light = NOON,
    seed: int = 11,
) -> Room:
    """A counter before a tiled wall, a rail with hooks above."""
    glazed = tiles(*tile_codes, across=8, down=8, seed=seed)
    back = wall(glazed, 240, 120, y=28, repeat=(2, 1))
    top = floor(wood(*counter, seed=seed, gloss=0.4), 240, 62, repeat=(3.2, 1.7))
    edge = beam(paint("#f3ede0"), (240, 3, 4), 0, -31, -2)
    rail = Part(tube([(-110, 25, 46), (110, 25, 46)], 0.6), paint("#b98a4a", gloss=0.6))
    board = moved(
        (beam(wood("#e3bd86", "#a87440", seed=21), (24, 1.8, 34), 0, 0, 17, bevel=0.7),),
        move(-42, 25.5, 0), turn("x", -7),
    )  # fmt: skip
    return Room((fixed(top, back, edge, rail), stand(board, 0, 0)), light)


def shelf(
    back_codes: tuple[str, str],
    board: tuple[str, str] | None,
    *,
    light: Light = SOFT,
    rows: tuple[float, ...] = (-36, 0, 36),
    seed: int = 3,
) -> Room:
    """A bookcase: boards at the heights ``rows``, uprights every 74 cm."""
    timber = wood(*board, seed=seed) if board else paint("#f4efe4", gloss=0.25)
    parts = [wall(plaster(*back_codes, seed=seed), 400, 300, y=15, z=-150)]
    parts += [beam(timber, (380, 30, 2.2), 0, 0, z - 1.1, bevel=0.2) for z in rows]
    parts += [beam(timber, (2.2, 30, 300), x, 0, 0, bevel=0.2) for x in (-111, -37, 37, 111)]
    return Room((fixed(*parts),), light)


def sill(
    view: str,
    *,
    light: Light | None = None,
    frame: str = "#f6f1e6",
    seed: int = 1,
    drapes: tuple[str, str] | None = ("#f0e4d0", "#e0cfb4"),
    bright: float = 1.5,
) -> Room:
    """A window sill; the light comes in from outside."""
    white = paint(frame, gloss=0.35)
    parts = [
        beam(white, (150, 34, 3.5), 0, 0, -1.75, bevel=0.8, casts=False),
        beam(white, (150, 5, 6), 0, 15, 3),
        beam(white, (5, 5, 150), -45, 15, 75),
        beam(white, (5, 5, 150), 45, 15, 75),
        beam(white, (3, 4, 150), 0, 15, 75),
        beam(white, (90, 3, 3), 0, 15, 52),
        outlook(view, seed=seed, bright=bright),
        wall(plaster("#e9dfce", "#dccfb8"), 300, 100, y=-15, z=-103.5),
    ]
    for side in (-1, 1):
        parts.append(
            Part(
                sheet(160, 300).moved(move(side * 128, 14, 60) @ turn("x", 90)),
                plaster("#efe6d6", "#e2d6c0"), casts=False,
            )
        )  # fmt: skip
    placed = [fixed(*parts)]
    if drapes is not None:
        placed += [stand(curtain(*drapes), side * 56, 6, -6) for side in (-1, 1)]
    inside = light or Light(
        148, 40, 5.0, (3.0, 2.7, 2.2), (0.9, 0.98, 1.08), (0.95, 0.95, 0.95), (0.5, 0.45, 0.4)
    )
    return Room(tuple(placed), inside)


def sofa(
    cover: tuple[str, str],
    wall_codes: tuple[str, str],
    pillows: tuple[tuple[str, str], ...],
    *,
    light: Light = NOON,
    seed: int = 4,
) -> Room:
    """A sofa's seat (z = 0) with cushions against its back."""
    fabric = cloth(*cover, seed=seed, threads=128)
    parts = [
        beam(fabric, (92, 84, 20), -47, 0, -10, bevel=4.5),
        beam(fabric, (92, 84, 20), 47, 0, -10, bevel=4.5),
        beam(fabric, (210, 26, 60), 0, 44, 14, bevel=8),
        beam(fabric, (24, 96, 40), -106, 0, 2, bevel=7),
        beam(fabric, (24, 96, 40), 106, 0, 2, bevel=7),
        wall(plaster(*wall_codes, seed=seed), 600, 260, y=100, z=-60),
        floor(parquet("#c99a63", "#8a5c34"), 700, 500, z=-44, y=-100, repeat=(4, 3)),
    ]
    placed = [fixed(*parts)]
    for index, codes in enumerate(pillows):
        leaned = moved(cushion(*codes, seed=index + 2), turn("z", 6 - index * 7), turn("x", -18))
        placed.append(stand(leaned, -66 + index * 50, 20))
    return Room(tuple(placed), light)


def desk(
    wood_codes: tuple[str, str],
    wall_codes: tuple[str, str],
    *,
    light: Light = EVENING,
    cork: bool = True,
    seed: int = 6,
) -> Room:
    """A desk top; papers on a cork board behind it."""
    parts = [
        floor(wood(*wood_codes, seed=seed), 190, 86, repeat=(2.6, 2.2)),
        wall(plaster(*wall_codes, seed=seed), 400, 240, y=43, z=-60),
    ]
    placed = []
    if cork:
        parts.append(beam(plaster("#c99a66", "#b08454", rough=0.04), (84, 1.6, 52), 6, 42, 44))
        for index, (x, z) in enumerate(((-18, 50), (2, 40), (20, 53), (34, 36))):
            sheet_ = pinned(landscape(index + seed), 15, 18, x, z, 41.0 - index * 0.02)
            placed.append(Placed(sheet_, move()))
    return Room((fixed(*parts), *placed), light)


def sideboard(
    wall_codes: tuple[str, str],
    wood_codes: tuple[str, str],
    *,
    light: Light = SOFT,
    pictures: tuple[tuple[float, float, float, float], ...] = (),
    seed: int = 7,
) -> Room:
    """A low cupboard (its top is z = 0) on a parquet floor; ``pictures`` (x, z, width, height)."""
    timber = wood(*wood_codes, seed=seed, gloss=0.35)
    parts = [
        beam(timber, (150, 42, 3), 0, 0, -1.5, bevel=0.5),
        beam(timber, (146, 40, 52), 0, 0, -29, bevel=0.4),
        wall(plaster(*wall_codes, seed=seed), 700, 300, y=22, z=-75, repeat=(3, 1.4)),
        floor(parquet("#c9985f", "#8c5e36"), 700, 400, z=-75, y=-170, repeat=(4, 2.4)),
        beam(paint("#f4efe4"), (700, 2, 9), 0, 21, -70),
    ]
    for x in (-36, 36):
        parts.append(beam(timber, (68, 1.6, 46), x, -20.4, -28, bevel=0.5))
        parts.append(
            Part(revolve([(0.01, 1.6), (1.6, 1.2), (1.0, 0)]).moved(
                move(x + (26 if x < 0 else -26), -21.2, -24) @ turn("x", 90)),
                paint("#c9a04e", gloss=0.6))
        )  # fmt: skip
    placed = [fixed(*parts)]
    for index, (left, lower, width, height) in enumerate(pictures):
        other = framed(landscape(seed + index), width, height, "#8a5a36", "#5a361e")
        placed.append(stand(other, left, 22, lower))
    return Room(tuple(placed), light)


def bedside(wall_codes: tuple[str, str], *, light: Light = LAMP, seed: int = 8) -> Room:
    """A night table beside a bed, in the evening."""
    timber = wood("#a87448", "#6b4226", seed=seed, gloss=0.4)
    linen = cloth("#e9e2d4", "#d2c8b6", seed=seed)
    parts = [
        beam(timber, (52, 40, 3), 0, 0, -1.5, bevel=0.6),
        beam(timber, (48, 38, 40), 0, 0, -23),
        wall(plaster(*wall_codes, seed=seed), 500, 260, y=24, z=-70),
        beam(linen, (120, 200, 26), -96, -76, -18, bevel=8),
        beam(timber, (126, 5, 70), -96, 21, 0, bevel=2),
    ]
    pillow = moved(cushion("#f4efe4", "#ddd4c4", size=58), turn("x", -28))
    return Room((fixed(*parts), stand(pillow, -80, 2, -6)), light, Film(warmth=0.15))


def nursery(
    wall_codes: tuple[str, str], rug: tuple[str, ...], *, light: Light = MORNING, seed: int = 9
) -> Room:
    """A children's room floor with a rug."""
    carpet = Part(
        sheet(150, 100, cells=(10, 10)).moved(move(0, -4, 0.5)), striped(rug, seed=seed),
        casts=False,
    )  # fmt: skip
    parts = [
        floor(parquet("#dcb27a", "#a87c4a", seed=seed), 500, 300, repeat=(3, 2)),
        carpet,
        wall(plaster(*wall_codes, seed=seed), 500, 260, y=78),
        beam(paint("#fbf7ee"), (500, 2, 10), 0, 77, 5),
    ]
    return Room((fixed(*parts),), light)


def laid_table(cloth_codes: tuple[str, str], wall_codes: tuple[str, str], *, light: Light,
               cells: int = 9, seed: int = 12) -> Room:  # fmt: skip
    """A table under a checked cloth."""
    top = Part(
        sheet(200, 120, cells=(12, 10)).mapped(scale=(1.6, 1)), checked(*cloth_codes, cells=cells),
        casts=False,
    )  # fmt: skip
    back = wall(plaster(*wall_codes, seed=seed), 500, 260, y=110, z=-80, repeat=(2, 1))
    return Room((fixed(top, back),), light)
