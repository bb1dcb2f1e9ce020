"""Which ground truth a folder has, and what it says."""

from pathlib import Path

from engine.errors import GroundTruthError
from engine.evaluation.described import FILE, read_described
from engine.evaluation.groundtruth import GroundTruth
from engine.evaluation.original import query_files, read_original
from engine.evaluation.revisited import gnd_files, read_revisited


def read(folder: Path) -> GroundTruth:
    """The ground truth of a folder: its gt.json or else, as they are downloaded, that of the
    revisited or of the original Oxford and Paris sets.

    Raises:
        GroundTruthError: there is none, there are several, or it does not say what an evaluation
            needs.
    """
    if (folder / FILE).is_file():
        return read_described(folder)
    revisited = gnd_files(folder)
    if len(revisited) > 1:
        several = ", ".join(path.name for path in revisited)
        raise GroundTruthError(f"{folder} has several ground truths: {several}")
    if revisited:
        return read_revisited(folder, revisited[0])
    asking = query_files(folder)
    if asking:
        return read_original(folder, asking)
    raise GroundTruthError(
        f"there is no {FILE} in {folder}, nor the ground truth of Oxford5k, Paris6k or their "
        "revisited forms"
    )
