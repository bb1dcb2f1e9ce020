"""Photographs round the house: shelf, sofa, desk, sideboard, bedside, children's room."""

from installer.sample.album.colours import BLUSH, OAK, PINE, SAGE, SAND, SKY, WALNUT
from installer.sample.album.shot import PORTRAIT, Shot, lying_book, lying_ukulele, scene, the, view
from installer.sample.model import stand
from installer.sample.props.green import plant, tulips
from installer.sample.props.household import (
    basket,
    book_pile,
    book_row,
    cushion,
    desk_lamp,
    pencils,
    shade_lamp,
    stacking_rings,
    toy_blocks,
    vessel,
    yarn,
)
from installer.sample.rooms.indoors import bedside, desk, nursery, shelf, sideboard, sofa
from installer.sample.rooms.room import EVENING, LAMP, MORNING, NOON, SOFT
from installer.sample.things.ceramics import plain_mug

SHOTS = (
    Shot(
        "globe-on-the-shelf",
        lambda: scene(
            shelf(SAGE, None),
            view((-1, 0, 14), 124, -12, 6),
            [
                the("globe", 13, -2, spun=35),
                stand(book_row(30, seed=4), -34, 1),
                the("doll", 29, -6, spun=14),
                stand(book_row(40, seed=6), -30, 1, -36),
                stand(vessel("round", "#c97b5a"), 22, 0, -36),
            ],
            reach_cm=85,
        ),
        asks=("globe",),
    ),
    Shot(
        "shelf-with-a-clock",
        lambda: scene(
            shelf(("#5f7f86", "#56747b"), OAK, light=MORNING),
            view((-1, 0, 9), 118, 12, 7),
            [
                the("clock", -3, -6, spun=-22),
                stand(book_row(22, seed=9), 11, 1),
                stand(plant("fern", "#e8d9c0", seed=3, size=6), -23, 2),
                stand(book_row(34, seed=13), -36, 1, -36),
                stand(vessel("tall", "#e3d9c6"), 16, 2, -36),
            ],
            size=PORTRAIT,
            reach_cm=85,
        ),
    ),
    Shot(
        "toy-shelf",
        lambda: scene(
            shelf(("#f2d9a8", "#e8cb92"), None, light=NOON),
            view((0, 0, 12), 118, 10, 10),
            [
                the("bus", -14, -4, spun=-14),
                stand(stacking_rings(), 6, 0),
                the("book", 25, 6, spun=-16, lean=13),
                stand(toy_blocks(seed=6, count=8), -10, 0, -36),
                stand(basket(radius=11, height=14), 22, 0, -36),
            ],
            reach_cm=85,
        ),
        asks=("bus",),
    ),
    Shot(
        "china-shelf",
        lambda: scene(
            shelf(("#f0ece2", "#e2dccf"), WALNUT, light=SOFT, rows=(-30, 0, 30)),
            view((1, 0, 8), 108, -12, 9),
            [
                the("teapot", 10, -2, spun=-35),
                stand(vessel("bowl", "#7f9aa8"), -12, -2),
                stand(vessel("jug", "#e3c9a8"), -28, 3),
                stand(plain_mug("#c97b5a", "#efe2d2"), 29, -2, spun=-20),
                stand(vessel("plate", "#8fb0a8"), -8, 0, -30),
                stand(vessel("bowl", "#d9a441"), 16, 0, -30),
            ],
            reach_cm=80,
        ),
    ),
    Shot(
        "bookcase",
        lambda: scene(
            shelf(("#8a5a4a", "#7d5042"), WALNUT, light=EVENING, seed=8),
            view((0, 0, 12), 122, -8, 6),
            [
                stand(book_row(46, seed=15), -35, 1),
                stand(plant("leaves", "#e8dcc4", seed=9, size=6), 24, 0),
                stand(book_row(66, seed=17), -35, 1, -36),
                stand(book_row(50, seed=19), -14, 1, 36),
            ],
            reach_cm=90,
        ),
    ),
    Shot(
        "tin-among-books",
        lambda: scene(
            shelf(BLUSH, PINE, light=SOFT, seed=10),
            view((6, 0, 9), 100, 20, 10),
            [
                the("tin", 12, -5, spun=110),
                the("mug", -6, -6, spun=-35),
                stand(book_row(20, seed=23), -34, 1),
                stand(plant("cactus", "#f0ebe0", seed=3, size=5), 27, 0),
                stand(book_pile(seed=12, count=3), 0, 0, -36),
            ],
            reach_cm=80,
        ),
    ),
    Shot(
        "sofa-song",
        lambda: scene(
            sofa(
                ("#7f9a94", "#6f8a84"),
                SAND,
                (("#e3b04f", "#cf9a3c"), ("#f0e6d6", "#dccfb8"), ("#c9705a", "#b25f4b")),
            ),
            view((2, 4, 13), 138, 14, 22),
            [
                lying_ukulele(10, -8, 2, spun=66, slope=6),
                stand(yarn("#d98f9a", "#b56f7c"), -34, -18),
            ],
            reach_cm=95,
        ),
        asks=("ukulele",),
    ),
    Shot(
        "reading-corner",
        lambda: scene(
            sofa(
                ("#d9c9b0", "#c7b698"),
                SKY,
                (("#4f7f86", "#43707a"), ("#d98a6a", "#c57858"), ("#f0e6d6", "#dccfb8")),
                light=MORNING,
                seed=6,
            ),
            view((6, -4, 8), 120, -22, 28),
            [
                lying_book(6, -14, spun=-28),
                stand(yarn("#e8c170", "#cfa652"), 36, -8),
                stand(yarn("#8fb0a8", "#74978f"), 30, -20),
            ],
            reach_cm=85,
        ),
        asks=("book",),
    ),
    Shot(
        "doll-on-the-sofa",
        lambda: scene(
            sofa(
                ("#9a6f7a", "#875f6a"),
                SAGE,
                (("#f0e6d6", "#dccfb8"), ("#d9a441", "#c48f30")),
                light=NOON,
                seed=8,
            ),
            view((-4, 0, 12), 112, 16, 16),
            [
                the("doll", 8, -6, spun=26, lean=4),
                the("bus", -20, -16, spun=34),
            ],
            reach_cm=80,
        ),
    ),
    Shot(
        "cushions",
        lambda: scene(
            sofa(
                ("#5f7f9a", "#527089"),
                SAND,
                (("#f2efe6", "#dcd6c8"), ("#e0a83c", "#c9922c"), ("#c9705a", "#b25f4b")),
                light=EVENING,
                seed=9,
            ),
            view((4, 0, 14), 150, -14, 18),
            [
                stand(basket(radius=13, height=13), 52, -14),
                stand(yarn("#c9705a", "#a85a46"), 52, -14, 8),
            ],
            reach_cm=95,
        ),
    ),
    Shot(
        "globe-on-the-desk",
        lambda: scene(
            desk(WALNUT, ("#d8ccb8", "#c8baa2"), light=LAMP),
            view((1, 0, 17), 116, 10, 11),
            [
                the("globe", -16, 6, spun=-70),
                stand(desk_lamp("#2f5f5a", lit=True), 4, 16),
                stand(pencils("#d9694a"), 30, 4),
                stand(book_pile(seed=21, count=2), 14, -14, spun=14),
            ],
            reach_cm=85,
        ),
    ),
    Shot(
        "late-at-the-desk",
        lambda: scene(
            desk(OAK, ("#4a5a6a", "#3f4e5e"), light=LAMP, cork=False, seed=11),
            view((-6, 2, 14), 112, -12, 14),
            [
                the("clock", 14, 2, spun=-34),
                the("book", -16, 14, spun=14, lean=14),
                stand(desk_lamp("#c9503c", lit=True), -40, 12),
                stand(pencils("#e8dcc4", seed=8), 30, 12),
            ],
        ),
    ),
    Shot(
        "print-over-the-sideboard",
        lambda: scene(
            sideboard(SAND, OAK),
            view((0, 0, 28), 165, -10, 5),
            [
                the("print", -4, 22, 22),
                stand(vessel("tall", "#7f9a94"), -30, 2),
                stand(vessel("round", "#c97b5a"), 14, 0),
                stand(tulips("#f2b53a", "#f0ebe0", seed=11), 31, 0),
            ],
            size=PORTRAIT,
            reach_cm=110,
        ),
        asks=("print",),
    ),
    Shot(
        "three-pictures",
        lambda: scene(
            sideboard(
                ("#6f8a86", "#647e7a"),
                WALNUT,
                light=NOON,
                pictures=((-46, 26, 26, 32), (44, 22, 30, 38)),
                seed=9,
            ),
            view((0, 0, 24), 168, 14, 5),
            [
                the("print", 0, 22, 20),
                the("globe", 40, 0, spun=200),
                stand(book_pile(seed=31, count=3), -38, 0, spun=8),
            ],
            reach_cm=115,
        ),
    ),
    Shot(
        "leaning-print",
        lambda: scene(
            sideboard(BLUSH, PINE, light=MORNING, seed=11),
            view((6, 0, 17), 130, 18, 9),
            [
                the("print", -14, 12, lean=12, spun=4),
                the("teapot", 22, -4, spun=205),
                stand(plant("leaves", "#f0ebe0", seed=13, size=7), 44, 4),
            ],
            reach_cm=95,
        ),
    ),
    Shot(
        "ukulele-on-the-wall",
        lambda: scene(
            sideboard(
                ("#e0b46a", "#d4a559"), WALNUT, light=SOFT, pictures=((-44, 26, 26, 32),), seed=13
            ),
            view((6, 0, 30), 165, -14, 4),
            [
                the("ukulele", 4, 21, 14, tilt=-9),
                stand(shade_lamp("#4f6f78", "#f2e3c2", lit=False), 48, 0),
                stand(vessel("bowl", "#e8e0d0"), -36, 0),
            ],
            size=PORTRAIT,
            reach_cm=110,
        ),
    ),
    Shot(
        "night-table",
        lambda: scene(
            bedside(("#7a8a9a", "#6c7c8c")),
            view((3, 0, 12), 112, 16, 14),
            [
                the("clock", -12, -9, spun=8),
                stand(shade_lamp("#d9b48a", "#f8dfae"), 8, 6),
                the("mug", 14, -12, spun=-150),
            ],
            reach_cm=85,
        ),
    ),
    Shot(
        "print-by-the-bed",
        lambda: scene(
            bedside(SAGE, light=NOON, seed=10),
            view((-36, 0, 34), 205, -8, 5),
            [
                the("print", -62, 23, 44),
                stand(shade_lamp("#e8dcc4", "#f4ead6", lit=False), 6, 4),
                the("book", -13, -8, spun=24, lean=0),
            ],
            reach_cm=115,
        ),
    ),
    Shot(
        "concert-on-the-rug",
        lambda: scene(
            nursery(
                ("#f0dcd0", "#e4cabb"),
                ("#5f7f9a", "#f2e6d0", "#d9694a", "#f2e6d0"),
                light=NOON,
                seed=12,
            ),
            view((0, 0, 7), 122, 20, 28),
            [
                lying_ukulele(-10, 0, 0.6, spun=-58),
                the("doll", 28, 10, 0.5, spun=30),
                stand(toy_blocks(seed=11, count=5), 18, -22, 0.5),
            ],
            reach_cm=90,
        ),
    ),
    Shot(
        "world-trip",
        lambda: scene(
            nursery(
                ("#cfe0d4", "#bcd0c2"), ("#f2e6d0", "#e0a83c", "#8fb0a8"), light=MORNING, seed=14
            ),
            view((0, 0, 12), 124, 10, 18),
            [
                the("globe", -16, 8, 0.5, spun=-120),
                the("bus", 22, -10, 0.5, spun=-38),
                stand(cushion("#d98a6a", "#c57858", size=36), 44, 40, 0.5, spun=-18),
            ],
            reach_cm=90,
        ),
    ),
)
