"""A network with a whitening that is learned from photos. Imports torch.

PCA whitening with an exponent (Revaud et al. 2019, section 4.2; Jégou & Chum 2012), learned from
descriptors and base regions alike, since both go through it.
"""

import dataclasses
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.config import FeatureSettings
from engine.errors import NetworkError
from engine.features.head import Head
from engine.features.whitening import WhiteningFit
from engine.jobs import Ticket
from engine.media.formats import is_photo_name
from engine.media.pool import DecodeTask
from engine.network.kept import demand_free, keep
from engine.network.manifest import NetworkManifest
from engine.network.network import Network
from engine.network.registry import head_of, weights_file
from engine.network_requests import WhitenNetworkRequest
from engine.retrieval.snapshot import Snapshot
from engine.runtime import Runtime, Use
from engine.training.model import trainable
from engine.types import FloatArray, Picture

LEARNING = "learning a whitening"

_MOST_PHOTOS = 5_000
_AT_ONCE = 64


def bare(known: NetworkManifest) -> NetworkManifest:
    """The network without a whitening; what a new one is learned from."""
    if known.whitening is None:
        return known
    head = head_of(known)
    linear = head.linear if head is not None else None
    length = None if linear is None else len(linear.weight)
    return dataclasses.replace(known, whitening=None, length=length, known_output=())


def whiten(
    request: WhitenNetworkRequest,
    rows: Iterable[FloatArray],
    known: NetworkManifest,
    *,
    networks: Path,
) -> NetworkManifest:
    """Keep a copy of a network with the whitening that these rows teach.

    Args:
        rows: (n, D) unit rows, part by part, of the network without a whitening.
        known: that network, as `bare` gives it.

    Raises:
        NetworkError: the name is taken, or the disk is full.
        SettingsError: too few rows for so many axes.
    """
    demand_free(networks, request.name)
    fit = WhiteningFit(known.descriptor_dim)
    for part in rows:
        fit.add(part)
    whitening = fit.finish(name=request.learned_from, exponent=request.exponent, dim=request.dim)
    before = head_of(known)
    head = Head(whitening=whitening)
    if before is not None:
        head = Head(before.linear, whitening, unit_first=before.unit_first)
    weights = trainable(known, weights_file(known.weights)).trained_weights().backbone
    named = dataclasses.replace(
        known,
        name=request.name,
        known_output=(),
        measured=(),
        origin=f"{known.name}, whitened by {request.learned_from}",
    )
    return keep(networks, named, {name: one.numpy() for name, one in weights.items()}, head)


def rows_of_library(snapshot: Snapshot, ticket: Ticket) -> Iterable[FloatArray]:
    """Descriptors and regions of at most `_MOST_PHOTOS` photos, spread over the library.

    Raises:
        NetworkError: the network has seen none.
    """
    count = min(len(snapshot), _MOST_PHOTOS)
    if not count:
        raise NetworkError("the network has seen no photo of this library: index first")
    chosen = np.unique(np.linspace(0, len(snapshot) - 1, count).astype(np.int64))
    for first in range(0, count, _AT_ONCE):
        ticket.update(LEARNING, first, count)
        rows = chosen[first : first + _AT_ONCE]
        yield np.asarray(snapshot.descriptors[rows], dtype=np.float32)
        yield snapshot.regions_of(rows)[0]


def rows_of_folder(
    folder: Path,
    network: Network,
    features: FeatureSettings,
    runtime: Runtime,
    ticket: Ticket,
) -> Iterable[FloatArray]:
    """Descriptors and regions of the photos in a folder; those that cannot be read are left out.

    Raises:
        NetworkError: no photo is there.
    """
    files = sorted(file for file in folder.rglob("*") if is_photo_name(file) and file.is_file())
    if not files:
        raise NetworkError(f"there is no photo in {folder}")
    step = max(1, len(files) // _MOST_PHOTOS)
    chosen = files[::step][:_MOST_PHOTOS]
    tasks = [DecodeTask(n, Picture(one), features.size_px, None) for n, one in enumerate(chosen)]
    with closing(runtime.pool(Use.WORK).run(tasks, ticket)) as outcomes:
        for done, outcome in enumerate(outcomes):
            ticket.update(LEARNING, done, len(chosen))
            if outcome.photo is not None:
                seen = network.extract([outcome.photo.pixels])[0]
                yield seen.descriptor[None]
                yield seen.regions
