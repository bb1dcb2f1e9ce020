"""A small vector brush: the pictures on the things are drawn here, from strokes and shapes."""

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from installer.sample.mesh import FloatArray, floats
from installer.sample.shapes import smooth
from installer.sample.texture import Texture

Place = tuple[float, float]


class Canvas:
    """Drawing in pixels, x to the right, y down; drawn twice as large and reduced at the end."""

    _FINE = 2

    def __init__(self, width: int, height: int, ground: str) -> None:
        self.width = width
        self.height = height
        size = (width * self._FINE, height * self._FINE)
        self._image = Image.new("RGB", size, ground)
        self._draw = ImageDraw.Draw(self._image)

    def _fine(self, points: Sequence[Place] | FloatArray) -> list[Place]:
        return [(float(x) * self._FINE, float(y) * self._FINE) for x, y in points]

    def shape(self, points: Sequence[Place] | FloatArray, fill: str) -> None:
        self._draw.polygon(self._fine(points), fill=fill)

    def blob(self, points: Sequence[Place], fill: str) -> None:
        """A closed smooth shape through the points."""
        count = len(points)
        around = smooth([*points, *points, *points], steps=8)
        self.shape(around[8 * count : 16 * count], fill)

    def box(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        self.shape([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], fill)

    def oval(
        self, x: float, y: float, radii: tuple[float, float], fill: str, *, turned_deg: float = 0
    ) -> None:
        """An ellipse about (x, y)."""
        angle = np.linspace(0, 2 * np.pi, 49)[:-1]
        turned = np.radians(turned_deg)
        a, b = radii[0] * np.cos(angle), radii[1] * np.sin(angle)
        across = x + a * np.cos(turned) - b * np.sin(turned)
        down = y + a * np.sin(turned) + b * np.cos(turned)
        self.shape(np.stack([across, down], axis=1).astype(np.float32), fill)

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        self.oval(x, y, (radius, radius), fill)

    def ring(self, x: float, y: float, radius: float, width: float, fill: str) -> None:
        angle = np.linspace(0, 2 * np.pi, 73)
        points = np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)
        self._band(points.astype(np.float32), np.full(len(points), width), fill)

    def stroke(
        self, points: Sequence[Place], width: float, fill: str, *, taper: float = 1.0
    ) -> None:
        """A smooth line; its width shrinks to ``taper`` of it at the end."""
        line = smooth(points, steps=10) if len(points) > 2 else floats(points)
        self._band(line, floats(np.linspace(width, width * taper, len(line))), fill)
        for (x, y), size in zip((line[0], line[-1]), (width, width * taper), strict=True):
            self.dot(float(x), float(y), size / 2, fill)

    def _band(self, line: FloatArray, widths: FloatArray, fill: str) -> None:
        way = np.gradient(line, axis=0)
        way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-6)
        across = np.stack([-way[:, 1], way[:, 0]], axis=1) * widths[:, None] / 2
        self.shape(np.concatenate([line + across, (line - across)[::-1]]), fill)

    def leaf(
        self, x: float, y: float, length: float, angle_deg: float, fill: str, *, slim: float = 0.36
    ) -> None:
        """A pointed leaf that grows from (x, y); 0 points right, 90 up."""
        t = np.linspace(0, np.pi, 17)
        along = (1 - np.cos(t)) / 2 * length
        wide = np.sin(t) ** 1.2 * length * slim / 2
        outline = np.concatenate(
            [np.stack([along, wide], axis=1), np.stack([along, -wide], axis=1)[::-1]]
        )
        angle = np.radians(angle_deg)
        cos, sin = np.cos(angle), np.sin(angle)
        turned = np.stack(
            [
                x + outline[:, 0] * cos - outline[:, 1] * sin,
                y - outline[:, 0] * sin - outline[:, 1] * cos,
            ],
            axis=1,
        )
        self.shape(turned.astype(np.float32), fill)

    def flower(self, x: float, y: float, radius: float, petals: int, fill: str, heart: str) -> None:
        for index in range(petals):
            angle = 2 * np.pi * index / petals + 0.3
            self.oval(
                x + radius * 0.56 * np.cos(angle),
                y + radius * 0.56 * np.sin(angle),
                (radius * 0.48, radius * 0.3),
                fill,
                turned_deg=float(np.degrees(angle)),
            )
        self.dot(x, y, radius * 0.28, heart)

    def picture(self) -> Image.Image:
        return self._image.resize((self.width, self.height), Image.Resampling.BOX)

    def texture(self) -> Texture:
        return Texture.from_picture(self.picture())
