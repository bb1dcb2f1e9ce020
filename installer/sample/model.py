"""What a scene holds: materials, parts, placed models."""

from dataclasses import dataclass

import numpy as np

from installer.sample.mesh import Matrix, Mesh, move, turn
from installer.sample.texture import Colour, Texture


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """How a surface looks.

    ``gloss``: 0 chalk, 1 polished. ``metal``: 1 reflects in its own colour only. ``glow``: the
    share of the colour that shines by itself. ``relief``: heights in centimetres that dent the
    surface. ``thin``: share of the light that comes through from behind (leaves, cloth).
    """

    colour: Colour | Texture
    gloss: float = 0.15
    metal: float = 0.0
    glow: float = 0.0
    relief: Texture | None = None
    thin: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """``casts``: whether it throws shadows."""

    mesh: Mesh
    material: Material
    casts: bool = True

    def moved(self, matrix: Matrix) -> "Part":
        return Part(self.mesh.moved(matrix), self.material, self.casts)


Model = tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A model standing in a scene; ``name`` names a thing of the album, "" anything else."""

    model: Model
    matrix: Matrix
    name: str = ""


def moved(model: Model, *matrices: Matrix) -> Model:
    """The model after the motions, the last named is the first done."""
    matrix = np.eye(4)
    for each in matrices:
        matrix = matrix @ each
    return tuple(part.moved(matrix) for part in model)


def stand(model: Model, x: float, y: float, z: float = 0.0, *, spun: float = 0.0) -> Placed:
    """Something that stands about; ``spun`` degrees about its own axis."""
    return Placed(model, move(x, y, z) @ turn("z", spun))
