"""Brings a network out of a file into the folder of kept networks. Imports torch.

Nothing in the file is executed: checkpoints are read by `engine.network.checkpoint`, safetensors
are data by their nature, and an export of Refocal is a zip archive of these.
"""

import dataclasses
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file

from engine.errors import NetworkError
from engine.features.head import Head
from engine.jobs import Ticket
from engine.network.architectures import create
from engine.network.checkpoint import LARGEST_BYTES, Checkpoint, Colours, read_checkpoint
from engine.network.described import without_weights
from engine.network.kept import (
    MANIFEST,
    WEIGHTS,
    demand_free,
    files_of,
    id_from,
    keep,
    manifest_at,
)
from engine.network.layers import keep_what_leads_to
from engine.network.manifest import NetworkManifest
from engine.network.registry import head_of, sha256_of
from engine.network.weights import fill
from engine.network.weights import read as read_weights
from engine.network.zoo import Architecture, architecture
from engine.pickled.torch_file import ZIP_ERRORS
from engine.types import FloatArray

STAGE: Final = "importing"
_STEPS: Final = 3
_COUNTER: Final = "num_batches_tracked"
_LARGEST_MANIFEST_BYTES: Final = 1024**2


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """How somebody wants a file imported.

    ``name``: its id; None: out of the file's name. ``network``: which network it is, as
    `engine.config.NetworkChoice` has it, for files that do not say. ``licence``: None as the file
    or its family has it.
    """

    name: str | None = None
    network: str | None = None
    licence: str | None = None


def import_file(path: Path, folder: Path, wanted: Wanted, ticket: Ticket) -> NetworkManifest:
    """Keep the network in a file, in the folder of kept networks.

    Raises:
        NetworkError: the file is missing, holds no network that can be run here, or the disk is
            full; nothing is kept then, and the reason is one line.
        Cancelled: the ticket was cancelled.
    """
    ticket.update(STAGE, 0, _STEPS)
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "is no file"
        raise NetworkError(f"{path} {what}")
    name = wanted.name or id_from(path.stem)
    demand_free(folder, name)
    known, weights, head = _read(path, wanted)
    known = dataclasses.replace(
        known, name=name, origin=known.origin or f"{path.name}, SHA-256 {sha256_of(path)}"
    )
    if wanted.licence is not None:
        known = dataclasses.replace(known, licence=wanted.licence)
    ticket.update(STAGE, 1, _STEPS)
    fitting = _fitted(known, weights, file=path.name)
    ticket.update(STAGE, 2, _STEPS)
    kept = keep(folder, known, fitting, head)
    ticket.update(STAGE, _STEPS, _STEPS)
    return kept


_Read = tuple[NetworkManifest, dict[str, torch.Tensor], Head | None]


def _read(path: Path, wanted: Wanted) -> _Read:
    if path.suffix.lower() == ".safetensors":
        return _manifest(Checkpoint({}), wanted), read_weights(path), None
    try:
        if _is_export(path):
            return _of_export(path)
        with path.open("rb") as stream:
            found = read_checkpoint(stream, path.stat().st_size)
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror or error}") from error
    weights = {name: torch.from_numpy(value) for name, value in found.weights.items()}
    return _manifest(found, wanted), weights, found.head


def _manifest(found: Checkpoint, wanted: Wanted) -> NetworkManifest:
    known = without_weights(_architecture(found, wanted))
    if found.mean is not None and found.std is not None:
        known = dataclasses.replace(known, mean=_bytes(found.mean), std=_bytes(found.std))
    return dataclasses.replace(
        known, gem_p=found.gem_p, licence=found.licence or "that of the file of weights"
    )


def _architecture(found: Checkpoint, wanted: Wanted) -> Architecture:
    if found.architecture is None:
        if wanted.network is None:
            raise NetworkError("the file does not say which network it is: say it, --network NAME")
        return architecture(wanted.network)
    if wanted.network not in (None, found.architecture):
        raise NetworkError(f"the file is of {found.architecture}, not of {wanted.network}")
    return architecture(found.architecture)


def _bytes(values: Colours) -> Colours:
    red, green, blue = values
    return 255 * red, 255 * green, 255 * blue


def _fitted(
    known: NetworkManifest, weights: dict[str, torch.Tensor], *, file: str
) -> dict[str, FloatArray]:
    """The weights that lead to the feature map, each checked against the architecture."""
    model = create(known.library, known.backbone).model
    names = set(model.state_dict())
    keep_what_leads_to(model, known.layer)
    fill(model, weights, names=names, file=file, backbone=known.backbone)
    fitting = {
        name: value.float()
        for name, value in model.state_dict().items()
        if not name.endswith(_COUNTER)
    }
    for name, value in fitting.items():
        if not value.isfinite().all():
            raise NetworkError(f"{file}: {name} holds values that are no numbers")
    return {name: value.numpy() for name, value in fitting.items()}


# --- exports of Refocal ---------------------------------------------------------------------


def _is_export(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(f"/{MANIFEST}") for name in archive.namelist())
    except ZIP_ERRORS:
        return False


def _of_export(path: Path) -> _Read:
    """What `engine.network.kept.export_to` wrote. The manifest is believed in what a file of
    weights cannot say; its geometry is measured anew."""
    with tempfile.TemporaryDirectory(prefix="refocal-") as spool:
        try:
            with zipfile.ZipFile(path) as archive:
                place = _unpacked(archive, Path(spool))
        except ZIP_ERRORS as error:
            raise NetworkError(f"{path} is damaged: {error}") from error
        said = manifest_at(place)
        if sha256_of(place / WEIGHTS) != said.weights.sha256:
            raise NetworkError(f"{path} is damaged: its weights have the wrong checksum")
        known = without_weights(
            Architecture(said.name, said.library, said.backbone), layer=said.layer
        )
        about = ("mean", "std", "gem_p", "gem_eps", "licence", "known_output", "measured", "origin")
        known = dataclasses.replace(known, **{field: getattr(said, field) for field in about})
        if not (min(known.std) > 0 and known.gem_p > 0 and known.gem_eps > 0):
            raise NetworkError(f"{path} is damaged: its manifest divides by nothing")
        return known, load_file(place / WEIGHTS), head_of(said)


def _unpacked(archive: zipfile.ZipFile, spool: Path) -> Path:
    """The network's own files, by names of ours; others are not looked at."""
    (manifest,) = [one for one in archive.infolist() if one.filename.endswith(f"/{MANIFEST}")]
    folder = manifest.filename.removesuffix(MANIFEST)
    place = spool / "network"
    place.mkdir()
    if manifest.file_size > _LARGEST_MANIFEST_BYTES:
        raise NetworkError("the manifest in the archive is too large")
    (place / MANIFEST).write_bytes(archive.read(manifest))
    for name in files_of(manifest_at(place))[1:]:
        member = archive.getinfo(folder + name)
        if member.compress_type != zipfile.ZIP_STORED or member.file_size > LARGEST_BYTES:
            raise NetworkError(f"{name} in the archive is packed, or too large")
        (place / name).write_bytes(archive.read(member))
    return place
