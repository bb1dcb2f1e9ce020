"""Photographs on the lawn, at the beach, in the garden, at the market and in the street."""

from dataclasses import replace

from installer.sample.album.shot import PORTRAIT, Shot, lying_book, lying_ukulele, scene, the, view
from installer.sample.model import stand
from installer.sample.props.green import apple, lemon, orange, pear, plant
from installer.sample.props.household import (
    basket,
    book_pile,
    candlestick,
    crate,
    landscape,
    shade_lamp,
    stacking_rings,
    vessel,
)
from installer.sample.rooms.outdoors import (
    beach,
    boot,
    cafe,
    doorstep,
    garden,
    lawn,
    market,
    poster_wall,
)
from installer.sample.rooms.room import EVENING, SOFT, SUN
from installer.sample.things.ceramics import plain_mug
from installer.sample.things.paper import framed

LATE_SUN = replace(EVENING, softness_deg=1.8, panes=(0, 0), sky=(0.72, 0.86, 1.2))

SHOTS = (
    Shot(
        "picnic",
        lambda: scene(
            lawn(blanket="checked"),
            view((2, 8, 12), 150, -14, 14),
            [
                lying_ukulele(-18, 14, 2.0, spun=38),
                stand(basket(), 34, 26, 1.6),
                stand(apple("#c23b32"), 16, -12, 1.6),
                stand(apple("#8fa83f"), 24, -10, 1.6, spun=50),
            ],
            reach_cm=110,
        ),
    ),
    Shot(
        "tea-on-the-lawn",
        lambda: scene(
            lawn(blanket="striped", light=LATE_SUN, seed=4),
            view((3, 6, 11), 112, 16, 13),
            [
                the("teapot", -12, 8, 1.6, spun=30),
                the("mug", 16, -4, 1.6, spun=200),
                stand(plain_mug("#8fb0a8", "#e0e8e4"), 28, 12, 1.6),
                stand(orange(), 2, -14, 1.6),
            ],
            reach_cm=95,
        ),
    ),
    Shot(
        "bus-in-the-grass",
        lambda: scene(
            lawn(light=LATE_SUN, seed=8, view="hills"),
            view((0, 0, 7), 74, -24, 13),
            [the("bus", 0, 2, 1.6, spun=24)],
            reach_cm=75,
        ),
        asks=("bus",),
    ),
    Shot(
        "empty-basket",
        lambda: scene(
            lawn(blanket="striped", seed=10),
            view((0, 6, 10), 128, -10, 20),
            [
                stand(basket(), -14, 16, 1.6),
                stand(pear(), 14, -2, 1.6),
                stand(lemon(), 22, 4, 1.6, spun=30),
                stand(orange(), 18, -12, 1.6),
            ],
            reach_cm=100,
        ),
    ),
    Shot(
        "beach-reading",
        lambda: scene(
            beach(),
            view((0, 4, 4), 108, -18, 25),
            [lying_book(2, 2, 1.0, spun=14), stand(orange(), -22, -12, 0.6)],
            reach_cm=90,
        ),
    ),
    Shot(
        "beach-music",
        lambda: scene(
            beach(light=LATE_SUN, seed=5),
            view((0, 6, 6), 142, 12, 17),
            [lying_ukulele(2, 8, 1.2, spun=-66), stand(basket(), 50, 34)],
            reach_cm=105,
        ),
    ),
    Shot(
        "bus-at-the-sea",
        lambda: scene(
            beach(towel=False, seed=7),
            view((0, 0, 8), 92, 18, 9),
            [the("bus", 2, 2, 0.2, spun=-160)],
            reach_cm=80,
        ),
    ),
    Shot(
        "garden-bench",
        lambda: scene(
            garden(painted=True, light=LATE_SUN, seed=6),
            view((0, 0, 9), 110, 18, 12),
            [
                the("clock", -8, 0, spun=-30),
                the("mug", 14, -6, spun=75),
                stand(basket(radius=11, height=12), 34, 4),
            ],
            reach_cm=90,
        ),
    ),
    Shot(
        "doll-in-the-garden",
        lambda: scene(
            garden(seed=8, light=SOFT),
            view((0, 0, 11), 102, 12, 14),
            [
                the("doll", -10, -2, spun=-55),
                the("tin", 14, 0, spun=-110),
                stand(apple("#c23b32"), 2, -10),
                stand(apple("#d9a03a"), 26, -8, spun=60),
            ],
            size=PORTRAIT,
            reach_cm=85,
        ),
        asks=("doll",),
    ),
    Shot(
        "flea-market",
        lambda: scene(
            market(),
            view((0, 0, 10), 138, -12, 20),
            [
                the("globe", -30, 10, spun=70),
                the("clock", 4, 4, spun=-10),
                the("tin", 26, -6, spun=30),
                stand(vessel("jug", "#d9c9a8"), 40, 14),
                stand(candlestick("#f3e8d2"), -8, 20),
                stand(vessel("bowl", "#7f9aa8"), -12, -16),
                stand(book_pile(seed=41, count=4), 20, 22, spun=20),
            ],
            reach_cm=110,
        ),
        asks=("globe",),
    ),
    Shot(
        "market-morning",
        lambda: scene(
            market(cover=("#dfe6e0", "#5f8f8c", "#dfe6e0", "#e0a83c"), light=SUN, seed=7),
            view((0, 0, 9), 132, 14, 22),
            [
                the("doll", -22, 4, spun=-14),
                the("teapot", 12, -2, spun=60),
                stand(vessel("tall", "#c97b5a"), -36, 20),
                stand(vessel("bottle", "#3f6f62", gloss=0.8), 34, 16),
                stand(vessel("round", "#e8dcc4"), 40, -4),
                stand(stacking_rings(), -2, 22),
            ],
            reach_cm=105,
        ),
        asks=("teapot",),
    ),
    Shot(
        "odds-and-ends",
        lambda: scene(
            market(cover=("#e8d9c0", "#8a5a6a", "#e8d9c0"), light=LATE_SUN, seed=9),
            view((0, 0, 12), 146, -18, 18),
            [
                stand(crate(), -22, 10, spun=8),
                the("print", -24, 12, 4, lean=16, spun=10),
                the("bus", 18, -8, spun=-28),
                stand(shade_lamp("#4f6f78", "#f2e3c2", lit=False), 40, 16),
                stand(vessel("plate", "#8fb0a8"), 2, -24),
            ],
            reach_cm=110,
        ),
        asks=("print",),
    ),
    Shot(
        "bric-a-brac",
        lambda: scene(
            market(seed=11, light=SOFT),
            view((0, 0, 10), 136, 10, 20),
            [
                stand(vessel("jug", "#7f9a94"), -32, 8),
                stand(candlestick("#e8c170"), -14, 14),
                stand(candlestick("#e8c170"), -6, 18),
                stand(framed(landscape(3), 24, 30, "#7a5236", "#4f3220"), 14, 24),
                stand(plain_mug("#d9694a", "#f0e2d0"), 2, -8, spun=20),
                stand(vessel("bowl", "#e0a83c"), 28, -4),
                stand(book_pile(seed=45, count=3), -20, -14, spun=-24),
            ],
            reach_cm=105,
        ),
    ),
    Shot(
        "green-door",
        lambda: scene(
            doorstep("#4f7f6a"),
            view((0, 0, 26), 172, -10, 8),
            [the("ukulele", -6, 17, 0, lean=12, spun=6), stand(vessel("jug", "#e8dcc4"), 24, 6)],
            size=PORTRAIT,
            reach_cm=120,
        ),
    ),
    Shot(
        "blue-door",
        lambda: scene(
            doorstep("#3f6f9a", seed=8, light=SOFT),
            view((0, -4, 9), 108, 18, 20),
            [
                the("mug", -12, -6, spun=20),
                lying_book(12, -4, spun=-20),
                stand(apple("#c23b32"), 30, -8),
            ],
            reach_cm=95,
        ),
    ),
    Shot(
        "street-cafe",
        lambda: scene(
            cafe(),
            view((0, -4, 7), 84, 12, 20),
            [
                the("mug", -4, -4, spun=-20),
                stand(vessel("plate", "#f6f1e6"), 16, -2),
                stand(pear(), 16, -2, 1),
                stand(vessel("bottle", "#8fa8a8", gloss=0.7), -18, 12),
            ],
            reach_cm=75,
        ),
        asks=("mug",),
    ),
    Shot(
        "cafe-table",
        lambda: scene(
            cafe(light=LATE_SUN, seed=9),
            view((0, -2, 9), 90, -20, 18),
            [
                the("book", 4, 4, spun=-24, lean=0),
                the("teapot", -18, -2, spun=130),
                stand(plain_mug("#d9a441", "#f4e8cc"), 20, -12, spun=-20),
            ],
            reach_cm=80,
        ),
        asks=("book",),
    ),
    Shot(
        "moving-day",
        lambda: scene(
            boot(),
            view((0, 0, 8), 128, 16, 32),
            [
                the("globe", -20, 2, -3, spun=160),
                the("print", 14, 22, -3, lean=12, spun=-4),
                the("clock", 18, -8, -3, spun=24),
                stand(book_pile(seed=51, count=3), -2, -12, -3, spun=30),
            ],
            reach_cm=100,
        ),
    ),
    Shot(
        "poster-in-the-street",
        lambda: scene(
            poster_wall(),
            view((-10, 20, 78), 190, -28, 2),
            [the("print", -14, 20, 58)],
            reach_cm=120,
        ),
    ),
    Shot(
        "busker",
        lambda: scene(
            poster_wall(light=LATE_SUN, seed=11),
            view((0, 10, 26), 172, 24, 8),
            [
                the("ukulele", -8, 6, 0, lean=13, spun=-8, tilt=5),
                stand(crate(), 34, -6, spun=-12),
                stand(plant("fern", "#c26a45", seed=17, size=7), 34, -6, 2),
            ],
            reach_cm=120,
        ),
        asks=("ukulele",),
    ),
)
