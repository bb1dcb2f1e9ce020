"""Photographs at tables, in the kitchen, at the window."""

from installer.sample.album.colours import BLUSH, OAK, PINE, SAGE, SAND, SKY, WALNUT
from installer.sample.album.shot import PORTRAIT, Shot, lying_book, scene, the, view
from installer.sample.model import stand
from installer.sample.props.green import apple, lemon, orange, pear, plant, tulips
from installer.sample.props.household import (
    book_pile,
    candlestick,
    vessel,
)
from installer.sample.rooms.indoors import kitchen, laid_table, sill, table
from installer.sample.rooms.room import EVENING, MORNING, NOON, SOFT
from installer.sample.things.ceramics import plain_mug

SHOTS = (
    Shot(
        "breakfast-table",
        lambda: scene(
            table(SAGE, OAK),
            view((2, 1, 5), 80, 8, 22),
            [
                the("mug", 3, -4, spun=24),
                lying_book(-17, 4, spun=18),
                stand(plant("leaves", "#d98c5f", seed=3, size=6), 22, 20),
                stand(vessel("plate", "#f4efe4"), 25, -8),
                stand(orange(), 23, -8, 1),
                stand(pear(), 29, -5, 1),
            ],
        ),
        asks=("mug",),
    ),
    Shot(
        "tea-for-two",
        lambda: scene(
            table(BLUSH, PINE, light=SOFT, seed=5),
            view((0, 0, 7), 82, -14, 18),
            [
                the("teapot", -8, 4, spun=-12),
                the("mug", 15, -6, spun=-60),
                stand(plain_mug("#e8e2d4", "#c8bfae"), 22, 9, spun=200),
                stand(lemon(), 2, -13, spun=40),
                stand(lemon(), -6, -15, spun=-30),
                stand(tulips("#e87a6a", "#7fa3b5"), -27, 18),
            ],
        ),
        asks=("teapot",),
    ),
    Shot(
        "before-eight",
        lambda: scene(
            table(SKY, WALNUT, light=MORNING, seed=3),
            view((7, 3, 8), 66, 12, 15),
            [
                the("clock", -5, 0, spun=16),
                stand(vessel("bottle", "#e8e0d0", gloss=0.3), 12, 10),
                stand(vessel("round", "#c97b5a", gloss=0.2), 23, 14),
                stand(pear(), 6, -6),
                stand(apple("#b9403a"), 14, -5, spun=40),
            ],
        ),
        asks=("clock",),
    ),
    Shot(
        "red-doll-and-tulips",
        lambda: scene(
            table(SAND, WALNUT, light=NOON, seed=7),
            view((0, 0, 13), 84, -10, 14),
            [
                the("doll", 7, -3, spun=-6),
                stand(tulips("#f2b53a", "#f0ebe0", seed=4), -10, 8),
                stand(book_pile(seed=5, count=2), 24, 12, spun=12),
            ],
            size=PORTRAIT,
        ),
        asks=("doll",),
    ),
    Shot(
        "still-life-with-apples",
        lambda: scene(
            table(("#3f5a5c", "#344b4e"), WALNUT, light=EVENING, seed=9),
            view((0, 2, 7), 78, 6, 18),
            [
                the("tin", -6, 4, spun=-20),
                stand(vessel("bowl", "#e6dcc8"), 13, 2),
                stand(apple("#c23b32"), 11, 1, 3.5),
                stand(apple("#d9a03a"), 17, 3, 3.5, spun=30),
                stand(apple("#c23b32"), 14, 6, 4, spun=80),
                stand(apple("#8fa83f"), -16, -8),
                stand(vessel("jug", "#8fa8a8", gloss=0.4), -20, 14),
            ],
        ),
        asks=("tin",),
    ),
    Shot(
        "fruit-bowl",
        lambda: scene(
            table(BLUSH, OAK, light=NOON, runner=("#e8e0d0", "#cfc4ae"), seed=11),
            view((-1, 2, 9), 84, 10, 20),
            [
                stand(vessel("bowl", "#5f8f8c"), -3, 0),
                stand(orange(), -6, -1, 3.5),
                stand(orange(), 1, 1, 3.5),
                stand(lemon(), -2, -5, 5, spun=20),
                stand(pear(), -2, 4, 4),
                stand(tulips("#f4efe2", "#c96f52", seed=7), 20, 12),
                stand(candlestick("#f3e8d2"), -24, 12),
            ],
        ),
    ),
    Shot(
        "kitchen-jars",
        lambda: scene(
            kitchen(("#f4f0e6", "#e6e0d2", "#c9c2b4"), ("#c99a64", "#8d5f38")),
            view((4, 2, 10), 90, -16, 13),
            [
                the("tin", -2, 6, spun=30),
                the("teapot", 20, 4, spun=25),
                stand(vessel("jar", "#e8e0cc", gloss=0.6), -20, 14),
                stand(vessel("jar", "#7f9a8a", gloss=0.6), -31, 12),
                stand(vessel("jug", "#f1ece0", gloss=0.5), 40, 14),
                stand(lemon(), 6, -10, spun=70),
            ],
        ),
    ),
    Shot(
        "row-of-mugs",
        lambda: scene(
            kitchen(("#8fb0a8", "#7ea198", "#e8e4d8"), ("#e0b988", "#a97c4c"), seed=12),
            view((4, 4, 8), 82, 14, 15),
            [
                stand(plain_mug("#d9694a", "#f0e2d0"), -23, 8, spun=-20),
                stand(plain_mug("#3f6f8f", "#dfe6e8"), -11, 8, spun=10),
                the("mug", 2, 6, spun=40),
                stand(plain_mug("#e8c170", "#f8efd8"), 15, 9, spun=-15),
                stand(plain_mug("#f0ebe0", "#d8d0c0"), 27, 8, spun=30),
                stand(plant("fern", "#f0ebe0", seed=8, size=6), 44, 14),
            ],
        ),
    ),
    Shot(
        "cactus-window",
        lambda: scene(
            sill("garden", seed=2),
            view((-2, -2, 9), 68, 16, 12),
            [
                the("mug", 10, -6, spun=-20),
                stand(plant("cactus", "#e8b8a0", seed=1, size=6), -10, 0),
                stand(plant("cactus", "#8fa8a0", seed=2, size=4.4), -23, -2),
            ],
        ),
    ),
    Shot(
        "doll-at-the-window",
        lambda: scene(
            sill("hills", seed=4, drapes=("#e8d8d0", "#d8c0b4")),
            view((4, -2, 11), 84, -16, 10),
            [
                the("doll", -6, -5, spun=-30),
                stand(vessel("bottle", "#4f8f8c", gloss=0.8), 10, 0),
                stand(vessel("round", "#e8a04a", gloss=0.6), 21, -2),
            ],
            size=PORTRAIT,
        ),
    ),
    Shot(
        "town-window",
        lambda: scene(
            sill("town", seed=5, frame="#4f6a66", drapes=None),
            view((0, -2, 12), 84, 18, 11),
            [
                the("clock", 6, -5, spun=-14),
                stand(plant("blades", "#d98c5f", seed=7, size=6), -16, -2),
                stand(book_pile(seed=8, count=3), 28, -2, spun=70),
            ],
        ),
        asks=("clock",),
    ),
    Shot(
        "sea-window",
        lambda: scene(
            sill("sea", seed=6, frame="#f4f4ee", drapes=("#dce6ea", "#c4d4dc")),
            view((-4, 0, 14), 98, -12, 9),
            [
                the("globe", 6, -2, spun=150),
                stand(vessel("jug", "#f0ebe0", gloss=0.4), -22, -2),
                stand(book_pile(seed=3, count=2), -20, -8, spun=-8),
            ],
        ),
    ),
    Shot(
        "plants-on-the-sill",
        lambda: scene(
            sill("garden", seed=9, drapes=("#f2ead8", "#dfd2b8")),
            view((0, 0, 13), 112, 8, 11),
            [
                stand(plant("fern", "#c26a45", seed=5, size=7), -28, 0),
                stand(plant("cactus", "#f0ebe0", seed=6, size=5), -9, -4),
                stand(plant("leaves", "#7f9aa0", seed=7, size=6), 10, 0),
                stand(plant("blades", "#d9a441", seed=8, size=5), 29, -2),
            ],
        ),
    ),
    Shot(
        "bus-on-the-sill",
        lambda: scene(
            sill("hills", seed=10),
            view((0, -4, 8), 78, -22, 13),
            [
                the("bus", 0, -5, spun=20),
                stand(plant("cactus", "#e8c170", seed=4, size=5), 25, 0),
            ],
        ),
    ),
    Shot(
        "sunday-tea",
        lambda: scene(
            laid_table(("#f7f1e4", "#5f86a8"), SAND, light=MORNING),
            view((-2, 3, 6), 92, 16, 27),
            [
                the("teapot", 10, 10, spun=160),
                the("mug", -14, -4, spun=100),
                stand(vessel("plate", "#f6f1e6"), 12, -14),
                stand(orange(), 10, -14, 1),
                stand(lemon(), 15, -11, 1, spun=60),
                stand(tulips("#d9506a", "#f4efe2", seed=9), -22, 24),
            ],
        ),
    ),
    Shot(
        "party-table",
        lambda: scene(
            laid_table(("#fbf6ea", "#e0a83c"), BLUSH, light=SOFT, cells=12),
            view((0, 2, 6), 96, 14, 22),
            [
                the("doll", -14, 12, spun=40),
                the("tin", 24, 16, spun=75),
                stand(vessel("bowl", "#d9694a"), 4, 2),
                stand(orange(), 2, 2, 3.5),
                stand(orange(), 8, 3, 3.5),
                stand(plain_mug("#8fb0a8", "#e0e8e4"), 22, -12, spun=-30),
                stand(vessel("plate", "#f6f1e6"), -16, -14),
                stand(apple("#c23b32"), -16, -14, 1),
            ],
        ),
        asks=("tin",),
    ),
)
