"""What a search of the album should find: gt.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from installer.sample.outline import Polygon, polygons

_LEAST_SHARE = 0.005  # of the picture's area: smaller things are not asked for
_MARGIN = 0.03  # a person's box is a little larger than the thing


@dataclass(frozen=True, slots=True)
class Appearance:
    """A thing in a photograph: its outline, its bounds as x, y, width, height in pixels and its
    visible share of the picture."""

    polygons: list[Polygon]
    box: tuple[int, int, int, int]
    share: float


def appearance(mask: NDArray[np.bool_]) -> Appearance | None:
    """None where the thing is hidden."""
    if not mask.any():
        return None
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    margin = round(_MARGIN * max(rows[-1] - rows[0], columns[-1] - columns[0]))
    left, top = max(int(columns[0]) - margin, 0), max(int(rows[0]) - margin, 0)
    right = min(int(columns[-1]) + 1 + margin, mask.shape[1])
    bottom = min(int(rows[-1]) + 1 + margin, mask.shape[0])
    return Appearance(polygons(mask), (left, top, right - left, bottom - top), float(mask.mean()))


def ground_truth(
    seen: Mapping[str, Mapping[str, Appearance]], asks: Sequence[tuple[str, str]]
) -> dict[str, object]:
    """``seen``: for each photo its things; ``asks``: the queries as (photo, thing)."""
    queries = []
    for photo, thing in asks:
        others = {
            name: found[thing]
            for name, found in seen.items()
            if name != photo and thing in found and found[thing].polygons
        }
        large = [name for name, found in others.items() if found.share >= _LEAST_SHARE]
        queries.append(
            {
                "photo": photo,
                "box": list(seen[photo][thing].box),
                "positives": large,
                "junk": [name for name in others if name not in large],
                "masks": {name: others[name].polygons for name in large},
            }
        )
    return {
        "name": "sample",
        "protocol": "leave-query-out",
        "photos": list(seen),
        "queries": queries,
    }
