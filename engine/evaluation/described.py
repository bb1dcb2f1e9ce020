"""gt.json: a ground truth in Refocal's own form.

    {"name", "protocol": "leave-query-out", "photos": [...],
     "queries": [{"photo", "box": [x, y, w, h] | null, "positives": [...], "junk": [...],
                  "masks": {photo: [polygon, ...]}}]}

``photos`` is the database; positives are what must be found; the query's own photo and its junk
leave its ranking. A polygon is a list of [x, y]. ``box``, ``junk`` and ``masks`` may be left out.
Of protocol "revisited", a query has ``easy`` and ``hard`` in the place of ``positives``.
"""

import json
from pathlib import Path

from engine.errors import GroundTruthError
from engine.evaluation.checks import (
    as_list,
    as_object,
    box_of_size,
    demand,
    demand_apart,
    names,
    numbers,
    shown,
    text_of,
)
from engine.evaluation.groundtruth import GroundTruth, Polygon, Protocol, TruthQuery

FILE = "gt.json"


def read_described(folder: Path) -> GroundTruth:
    """The ground truth that the folder's gt.json describes.

    Raises:
        GroundTruthError: gt.json is missing, or does not say what an evaluation needs.
    """
    path = folder / FILE
    text = text_of(path)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GroundTruthError(f"{path} cannot be read: {error}") from error
    try:
        return _truth(content, folder)
    except GroundTruthError as error:
        raise GroundTruthError(f"{path}: {error.reason}") from None


def _truth(content: object, folder: Path) -> GroundTruth:
    table = as_object(content, "the whole")
    protocol = _protocol(table.get("protocol", Protocol.LEAVE_QUERY_OUT))
    photos = names(table.get("photos"), "photos")
    queries = as_list(table.get("queries"), "queries")
    demand(bool(photos) and bool(queries), "it needs photos and queries")
    known = frozenset(photos)
    return GroundTruth(
        name=str(table.get("name", folder.name)),
        folder=folder,
        photos=photos,
        queries=tuple(_query(one, f"query {n}", known, protocol) for n, one in enumerate(queries)),
        protocol=protocol,
    )


def _protocol(content: object) -> Protocol:
    for protocol in Protocol:
        if content == protocol:
            return protocol
    wanted = ", ".join(Protocol)
    raise GroundTruthError(f"the protocol must be one of {wanted}, not {shown(content)}")


def _query(content: object, where: str, known: frozenset[str], protocol: Protocol) -> TruthQuery:
    table = as_object(content, where)
    (photo,) = names([table.get("photo")], f"{where}: photo")
    right = ("easy", "hard") if protocol is Protocol.REVISITED else ("positives",)
    kinds = {kind: names(table.get(kind), f"{where}: {kind}") for kind in right}
    kinds["junk"] = names(_unless_null(table.get("junk"), []), f"{where}: junk")
    demand_apart(kinds.items(), where)
    masks = as_object(_unless_null(table.get("masks"), {}), f"{where}: masks")
    for kind, photos in (*kinds.items(), ("masks", tuple(map(str, masks)))):
        for name in photos:
            demand(name in known, f"{where}: {kind} has {shown(name)}, which is not in photos")
    box = table.get("box")
    return TruthQuery(
        photo=photo,
        box=None if box is None else box_of_size(box, where),
        positives=tuple(name for kind in right for name in kinds[kind]),
        junk=kinds["junk"],
        masks={
            str(name): _polygons(mask, f"{where}: mask of {name}") for name, mask in masks.items()
        },
        easy=kinds.get("easy", ()),
        hard=kinds.get("hard", ()),
    )


def _unless_null(content: object, otherwise: object) -> object:
    return otherwise if content is None else content


def _polygons(content: object, where: str) -> tuple[Polygon, ...]:
    polygons = []
    for polygon in as_list(content, where):
        points = [numbers(point, 2, where) for point in as_list(polygon, where)]
        demand(len(points) >= 3, f"{where}: a polygon needs three points or more")
        polygons.append(tuple((x, y) for x, y in points))
    return tuple(polygons)
