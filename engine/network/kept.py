"""The folder in which a library keeps networks that were imported or trained. Torch-free.

Each network is a folder called by its id: ``manifest.json``, ``weights.safetensors`` and the files
of its head. It is written under a temporary name and renamed, so there is never half of one.
"""

import contextlib
import dataclasses
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from engine.errors import NetworkError
from engine.features.head import Head, linear_bytes
from engine.features.whitening import Whitening
from engine.features.whitening import save as save_whitening
from engine.network.manifest import NetworkManifest, WeightsSource
from engine.network.registry import (
    LINEAR,
    head_of,
    sha256_of,
    shipped_names,
    whitening_name,
)
from engine.network.zoo import PAPERS
from engine.types import FloatArray

MANIFEST: Final = "manifest.json"
WEIGHTS: Final = "weights.safetensors"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_NOT_OF_AN_ID = re.compile(r"[^A-Za-z0-9._-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PARTIAL = ".partial-"
_WHITENING = "new-whitening.safetensors"


def id_from(text: str) -> str:
    """An id out of the name of a file."""
    return _NOT_OF_AN_ID.sub("-", text).strip("-._").lower()[:80] or "network"


def demand_free(folder: Path, network_id: str) -> None:
    """Whether a new network may be called so.

    Raises:
        NetworkError: it may not, or there is one.
    """
    if not _ID.fullmatch(network_id):
        raise NetworkError(
            f"{network_id!r} cannot name a network: letters, digits, '.', '_' and '-', 80 at most"
        )
    if network_id in (*shipped_names(), *PAPERS):
        raise NetworkError(f"{network_id} names another network: choose a name with '--as NAME'")
    if network_id in kept_ids(folder):
        raise NetworkError(f"there is a network {network_id} already: remove it, or '--as NAME'")


def kept_ids(folder: Path) -> tuple[str, ...]:
    """The networks in the folder, in the order of their names."""
    try:
        return tuple(
            sorted(
                one.parent.name
                for one in folder.glob(f"*/{MANIFEST}")
                if _ID.fullmatch(one.parent.name)
            )
        )
    except OSError as error:
        raise NetworkError(f"the networks in {folder} cannot be listed: {error}") from error


def kept_manifest(folder: Path, network_id: str) -> NetworkManifest:
    """The manifest of a network in the folder, its weights by their absolute path.

    Raises:
        NetworkError: there is none of this id, or its manifest is damaged.
    """
    demand_kept(folder, network_id)
    return manifest_at(folder / network_id)


def as_kept_now(folder: Path, known: NetworkManifest) -> NetworkManifest:
    """The manifest of a network as a library remembers it: of a kept one the folder's, wherever
    the library has been moved to, if that is still the same network."""
    if known.weights.package is not None or known.name not in kept_ids(folder):
        return known
    now = kept_manifest(folder, known.name)

    def sums(one: NetworkManifest) -> tuple[str | None, ...]:
        return one.weights.sha256, one.linear, one.whitening

    return now if sums(now) == sums(known) else known


def demand_kept(folder: Path, network_id: str) -> None:
    """Whether the folder has a network of this id.

    Raises:
        NetworkError: it has none, or the id is that of a shipped one.
    """
    if network_id in shipped_names():
        raise NetworkError(f"{network_id} comes with Refocal and stays as it is")
    kept = kept_ids(folder)
    if network_id not in kept:
        known = ", ".join((*shipped_names(), *kept))
        raise NetworkError(f"there is no network {network_id!r}; there are: {known}")


def manifest_at(place: Path) -> NetworkManifest:
    """The manifest of the network in this folder of its own.

    Raises:
        NetworkError: it is missing or damaged.
    """
    try:
        known = NetworkManifest.from_json((place / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise NetworkError(f"{place / MANIFEST} cannot be read: {error}") from error
    sums = (known.weights.sha256, known.linear, known.whitening)
    if not all(one is None or _SHA256.fullmatch(str(one)) for one in sums):  # they name files
        raise NetworkError(f"{place / MANIFEST} is damaged: a checksum is none")
    source = WeightsSource(None, str((place / WEIGHTS).absolute()), known.weights.sha256)
    return dataclasses.replace(known, name=place.name, weights=source)


def keep(
    folder: Path, known: NetworkManifest, weights: Mapping[str, FloatArray], head: Head | None
) -> NetworkManifest:
    """Keep a network under the name in its manifest, all of it or nothing.

    Args:
        known: what is to be said of it; what depends on the files is filled in here.
        weights: of the backbone, by the names of its library.
        head: what follows the pooling; None: nothing but L2.

    Returns:
        The manifest as it is kept.

    Raises:
        NetworkError: the name is taken, the head does not fit, the disk is full or may not be
            written.
    """
    demand_free(folder, known.name)
    demand_fitting(head, known)
    with _written(folder, folder / known.name) as partial:
        tensors = {name: np.ascontiguousarray(value) for name, value in weights.items()}
        save_file(tensors, partial / WEIGHTS)
        if head is not None and head.linear is not None:
            (partial / LINEAR).write_bytes(linear_bytes(head.linear))
        whitening = head.whitening if head is not None else None
        known = dataclasses.replace(
            known,
            weights=WeightsSource(None, WEIGHTS, sha256_of(partial / WEIGHTS)),
            linear=sha256_of(partial / LINEAR) if (partial / LINEAR).exists() else None,
            whitening=_saved(whitening, partial),
            unit_first=head is None or head.unit_first,
            length=None if head is None else head.dim_out,
        )
        (partial / MANIFEST).write_text(known.to_json(), encoding="utf-8")
    return manifest_at(folder / known.name)


def attach_whitening(place: Path, whitening: Whitening) -> NetworkManifest:
    """Give a network in a folder of its own another whitening, learned from its descriptors as
    they are without one (`engine.features.whitening.WhiteningFit`).

    Vectors that it made before are then of another network.

    Args:
        place: the network's folder.

    Returns:
        The new manifest.

    Raises:
        NetworkError: there is no network, the whitening does not fit, or it cannot be written.
    """
    known = manifest_at(place)
    before = head_of(known)
    head = Head(whitening=whitening)
    if before is not None:
        head = Head(before.linear, whitening, unit_first=before.unit_first)
    demand_fitting(head, known)
    with _errors_named(place):
        changed = dataclasses.replace(
            known,
            whitening=_saved(whitening, place),
            length=head.dim_out,
            known_output=(),
            measured=(),
            weights=dataclasses.replace(known.weights, file=WEIGHTS),
        )
        partial = place / f"{MANIFEST}.partial"
        partial.write_text(changed.to_json(), encoding="utf-8")
        _sync(partial)
        partial.replace(place / MANIFEST)  # from here on it is another network
        if known.whitening is not None and known.whitening != changed.whitening:
            (place / whitening_name(known.whitening)).unlink(missing_ok=True)
    return manifest_at(place)


def demand_fitting(head: Head | None, known: NetworkManifest) -> None:
    """Whether a head takes what the backbone gives.

    Raises:
        NetworkError: it takes another number of channels.
    """
    if head is not None and head.dim_in not in (None, known.dim):
        raise NetworkError(
            f"the head takes {head.dim_in} channels, {known.backbone} gives {known.dim}"
        )


def forget(folder: Path, network_id: str) -> int:
    """Remove a network; how many bytes that freed.

    Raises:
        NetworkError: there is none of this id, or it cannot be removed.
    """
    demand_kept(folder, network_id)
    size = size_of(folder, network_id)
    with _errors_named(folder):
        gone = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder))
        (folder / network_id).replace(gone / network_id)  # at once; the rest may take its time
        shutil.rmtree(gone, ignore_errors=True)
    return size


def size_of(folder: Path, network_id: str) -> int:
    """Bytes of a kept network's files."""
    return sum(one.stat().st_size for one in (folder / network_id).iterdir() if one.is_file())


def export_to(folder: Path, network_id: str, target: Path) -> int:
    """Write a network to a zip archive that `engine.network.importing` takes back; its bytes.

    Raises:
        NetworkError: there is none of this id, a file of it is damaged, or the target cannot be
            written.
    """
    known = kept_manifest(folder, network_id)
    head_of(known)  # raises where a file is damaged
    if sha256_of(Path(known.weights.file)) != known.weights.sha256:
        raise NetworkError(f"the weights are damaged: {known.weights.file} has the wrong checksum")
    partial = target.with_name(f"{target.name}.partial")
    with _errors_named(target):
        try:
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
                for name in files_of(known):
                    archive.write(folder / network_id / name, f"{network_id}/{name}")
            _sync(partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    return target.stat().st_size


def files_of(known: NetworkManifest) -> tuple[str, ...]:
    """The names of a kept network's files."""
    linear = () if known.linear is None else (LINEAR,)
    whitening = () if known.whitening is None else (whitening_name(known.whitening),)
    return (MANIFEST, WEIGHTS, *linear, *whitening)


# --- writing --------------------------------------------------------------------------------


@contextmanager
def _written(folder: Path, target: Path) -> Iterator[Path]:
    """A new folder that becomes ``target`` at the end of the block. Who writes the library writes
    here alone, so what an earlier run left is cleared away."""
    with _errors_named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_PARTIAL}*"):
            shutil.rmtree(left, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder))
        try:
            yield partial
            for one in partial.iterdir():
                _sync(one)
            partial.rename(target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise


def _saved(whitening: Whitening | None, place: Path) -> str | None:
    """Its SHA-256, under whose name it then lies in the folder."""
    if whitening is None:
        return None
    save_whitening(whitening, place / _WHITENING)
    sha256 = sha256_of(place / _WHITENING)
    _sync(place / _WHITENING)
    (place / _WHITENING).replace(place / whitening_name(sha256))
    return sha256


def _sync(path: Path) -> None:
    with path.open("rb") as file, contextlib.suppress(OSError):  # not every file system can
        os.fsync(file.fileno())


@contextmanager
def _errors_named(where: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NetworkError(f"{where} cannot be written: {reason.lower()}") from error
