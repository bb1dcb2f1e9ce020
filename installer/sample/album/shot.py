"""A photograph to be taken, and how things are posed for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from installer.sample.camera import Camera
from installer.sample.lens import Film
from installer.sample.light import Light
from installer.sample.mesh import move, turn
from installer.sample.model import Model, Placed
from installer.sample.render import Scene
from installer.sample.rooms.room import Room
from installer.sample.things.ceramics import mug, teapot
from installer.sample.things.clock import clock
from installer.sample.things.doll import doll
from installer.sample.things.paper import book, cutout_print
from installer.sample.things.tin import tin
from installer.sample.things.toys import bus, globe
from installer.sample.things.ukulele import hung_ukulele, ukulele

THINGS: dict[str, Callable[[], Model]] = {
    "book": book,
    "bus": bus,
    "clock": clock,
    "doll": doll,
    "globe": globe,
    "mug": mug,
    "print": cutout_print,
    "teapot": teapot,
    "tin": tin,
    "ukulele": hung_ukulele,
}

LANDSCAPE, PORTRAIT = (900, 675), (675, 900)


@dataclass(frozen=True, slots=True)
class Shot:
    """``stage`` builds the scene; ``asks`` names the things that this photograph is a query for.
    ``name`` is the file's, without its suffix."""

    name: str
    stage: Callable[[], Scene]
    asks: tuple[str, ...] = ()


def the(
    name: str,
    x: float,
    y: float,
    z: float = 0.0,
    *,
    spun: float = 0.0,
    lean: float = 0.0,
    tilt: float = 0.0,
) -> Placed:
    """One of the things, standing; it leans back by ``lean`` and sideways by ``tilt`` degrees."""
    matrix = move(x, y, z) @ turn("z", spun) @ turn("x", -lean) @ turn("y", tilt)
    return Placed(THINGS[name](), matrix, name)


def lying_book(x: float, y: float, z: float = 0.0, *, spun: float = 0.0) -> Placed:
    """The book on its back."""
    matrix = move(x, y, z + 1.5) @ turn("z", spun) @ turn("x", -90) @ move(z=-10.5)
    return Placed(book(), matrix, "book")


def lying_ukulele(
    x: float, y: float, z: float = 0.0, *, spun: float = 0.0, slope: float = 0.0
) -> Placed:
    matrix = move(x, y, z) @ turn("z", spun) @ turn("x", slope) @ move(y=-9)
    return Placed(ukulele(), matrix, "ukulele")


def view(
    target: tuple[float, float, float],
    distance: float,
    azimuth_deg: float,
    elevation_deg: float,
    *,
    fov_deg: float = 38.0,
    aperture_cm: float = 0.9,
    roll_deg: float = 0.0,
) -> Camera:
    """A camera that looks at ``target`` from ``azimuth_deg`` (0: from -y, 90: from +x)."""
    azimuth, elevation = np.radians([azimuth_deg, elevation_deg])
    way = (
        float(np.sin(azimuth) * np.cos(elevation)),
        float(-np.cos(azimuth) * np.cos(elevation)),
        float(np.sin(elevation)),
    )
    eye = (
        target[0] + distance * way[0],
        target[1] + distance * way[1],
        target[2] + distance * way[2],
    )
    return Camera(eye, target, fov_deg, roll_deg, aperture_cm=aperture_cm)


def scene(
    room: Room,
    camera: Camera,
    placed: Sequence[Placed],
    *,
    size: tuple[int, int] = LANDSCAPE,
    light: Light | None = None,
    film: Film | None = None,
    reach_cm: float = 70.0,
    stops: float = 0.0,
) -> Scene:
    chosen = film or room.film
    return Scene(
        (*room.placed, *placed),
        camera,
        light or room.light,
        replace(chosen, stops=chosen.stops + stops),
        size,
        reach_cm,
    )
