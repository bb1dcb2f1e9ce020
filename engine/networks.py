"""What a person does with a library's networks: bring one in, give it away, use it, remove it.

The shipped networks are part of Refocal; the others lie in the library's own folder
(`engine.network.kept`). Which of them the library is in use with, its database knows.
"""

from pathlib import Path

from engine.catalogue.photos import overview
from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.jobs import Ticket
from engine.network.kept import export_to, forget, kept_ids, kept_manifest, size_of
from engine.network.manifest import NetworkManifest, network_key
from engine.network.registry import DEFAULT, manifest, shipped_names, shipped_size
from engine.network_requests import (
    ExportNetworkReport,
    ExportNetworkRequest,
    ImportNetworkRequest,
    NetworkFigure,
    NetworkInfo,
    NetworkList,
    RemoveNetworkReport,
    RemoveNetworkRequest,
    UseNetworkReport,
    UseNetworkRequest,
)
from engine.store.database import Database
from engine.store.networks import NetworkRecord, activate, active_network, register
from engine.store.table import committed_rows


def listed(folder: Path, database: Database | None) -> NetworkList:
    """The shipped networks and those of the library, by what is known without loading them.

    Args:
        folder: of the library's networks; need not exist.
        database: of the library; None: there is no library yet, which would begin with the
            default network.

    Raises:
        NetworkError: a manifest is damaged.
    """
    active = _active(database)
    shipped = [_info(manifest(name), shipped_size(name), active) for name in shipped_names()]
    kept = [
        _info(kept_manifest(folder, one), size_of(folder, one), active) for one in kept_ids(folder)
    ]
    return NetworkList((*shipped, *kept))


def bring(
    request: ImportNetworkRequest, ticket: Ticket, *, folder: Path, database: Database
) -> NetworkInfo:
    """Import a file; see `engine.network.importing.import_file`."""
    from engine.network.importing import Wanted, import_file  # loads torch
    from engine.network.loading import preload

    preload(ticket)
    wanted = Wanted(request.name, request.network, request.licence)
    kept = import_file(request.path, folder, wanted, ticket)
    return described(kept, folder, database)


def known_by(folder: Path, name: str) -> NetworkManifest:
    """The network of this id, shipped or kept.

    Raises:
        NetworkError: there is none.
    """
    return manifest(name) if name in shipped_names() else kept_manifest(folder, name)


def described(known: NetworkManifest, folder: Path, database: Database) -> NetworkInfo:
    """What is to be said of a kept network."""
    return _info(known, size_of(folder, known.name), _active(database))


def export(request: ExportNetworkRequest, ticket: Ticket, *, folder: Path) -> ExportNetworkReport:
    """Write a network of the library to a file; see `engine.network.kept.export_to`."""
    ticket.check()
    size = export_to(folder, request.network, request.target)
    return ExportNetworkReport(request.network, request.target, size)


def use(
    request: UseNetworkRequest,
    ticket: Ticket,
    *,
    folder: Path,
    database: Database,
    features: FeatureSettings,
) -> UseNetworkReport:
    """Make a network the one that the library's searches and indexing use from now on.

    Photos are seen by it when they are next indexed. What other networks made of them is kept, so
    that the way back costs nothing.

    Raises:
        NetworkError: there is no such network.
    """
    ticket.check()
    name = request.network
    known = known_by(folder, name)
    key = network_key(known, features)
    register(database, NetworkRecord(key, known.to_json(), features.to_json()))
    activate(database, key)
    return UseNetworkReport(name, overview(database).photos, committed_rows(database, key))


def remove(
    request: RemoveNetworkRequest, ticket: Ticket, *, folder: Path, database: Database
) -> RemoveNetworkReport:
    """Remove a network that was imported or trained. What it made of the photos stays, and is of
    use again when the same network is imported once more.

    Raises:
        NetworkError: it is shipped, unknown, or the one that the library is in use with.
    """
    ticket.check()
    if request.network not in shipped_names() and request.network == _active(database):
        raise NetworkError(
            f"the library is in use with {request.network}: first 'refocal networks use' another, "
            f"such as {DEFAULT}"
        )
    return RemoveNetworkReport(request.network, forget(folder, request.network))


def _active(database: Database | None) -> str:
    """The name of the network that searches use."""
    record = active_network(database) if database is not None else None
    return DEFAULT if record is None else NetworkManifest.from_json(record.manifest).name


def _info(known: NetworkManifest, size: int, active: str) -> NetworkInfo:
    return NetworkInfo(
        id=known.name,
        shipped=known.weights.package is not None,
        active=known.name == active,
        size_bytes=size,
        backbone=known.backbone,
        layer=known.layer,
        dim=known.descriptor_dim,
        linear=known.linear is not None,
        whitened=known.whitening is not None,
        licence=known.licence,
        origin=known.origin,
        measured=tuple(NetworkFigure(one.dataset, one.settings, one.map) for one in known.measured),
    )
