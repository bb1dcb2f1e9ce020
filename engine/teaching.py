"""Trainings as the engine offers them: labels and parts for `engine.training`. Imports torch."""

from pathlib import Path

from engine.evaluation.described import FILE
from engine.evaluation.reading import read
from engine.jobs import Ticket
from engine.network.manifest import NetworkManifest
from engine.network_requests import TrainReport, TrainRequest
from engine.runtime import Runtime, Use
from engine.store.paths import LibraryPaths
from engine.training.job import TrainParts
from engine.training.job import train as run
from engine.training.labelled import Labelled, grouped, labelled_folder


def train(
    request: TrainRequest,
    ticket: Ticket,
    *,
    start: NetworkManifest,
    runtime: Runtime,
    paths: LibraryPaths,
) -> TrainReport:
    """Train on a folder; see `engine.training.job.train`."""
    parts = TrainParts(
        start=start,
        device=runtime.device,
        pool=runtime.pool(Use.WORK),
        paths=paths,
    )
    labelled = labels_of(request.folder, each_photo=request.each_photo)
    return run(request, labelled, ticket, parts=parts)


def labels_of(folder: Path, *, each_photo: bool) -> Labelled:
    """What belongs together by the folder's ground truth or, without one, by its sub-folders.

    Raises:
        GroundTruthError: the ground truth cannot be read.
        TrainingError: nothing has a label.
    """
    if each_photo or not (folder / FILE).is_file():
        return labelled_folder(folder, each_photo=each_photo)
    truth = read(folder)
    groups: dict[str, set[str]] = {photo: {photo} for photo in truth.photos}
    for query in truth.queries:
        together = set().union(*(groups.get(p, {p}) for p in (query.photo, *query.positives)))
        groups.update(dict.fromkeys(together, together))
    apart = {min(group): sorted(group) for group in groups.values()}
    return grouped({name: [folder / photo for photo in own] for name, own in apart.items()})
