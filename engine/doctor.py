"""A look over a library and the machine it is used on, for a person or a bug report."""

import importlib.metadata
import os
import platform
import sys

from engine.catalogue.photos import overview
from engine.config import FeatureSettings
from engine.errors import RefocalError
from engine.jobs import Ticket
from engine.requests import DoctorReport
from engine.runtime import Runtime
from engine.store.check import inspect
from engine.store.database import Database
from engine.store.networks import active_network
from engine.store.paths import LibraryPaths

_PACKAGES = ("torch", "torchvision", "timm", "PySide6-Essentials", "Pillow", "numpy", "hnswlib")


def examine(
    database: Database, paths: LibraryPaths, runtime: Runtime, ticket: Ticket
) -> DoctorReport:
    """Everything that is wrong, and the facts that a bug report needs. Changes nothing."""
    ticket.update("looking the library over", 0, 0)
    problems = list(inspect(database, paths))
    held = overview(database)
    active = active_network(database)
    facts = {
        "library": str(paths.root),
        "folders": str(len(held.folders)),
        "photos": str(held.photos),
        "ready": str(held.ready),
        "failed": str(held.failed),
        "network": active.key if active else "none yet",
    }
    problems += [f"the folder {f.path} cannot be reached" for f in held.folders if not f.online]
    ticket.update("testing the device", 0, 0)
    try:
        device = runtime.network(FeatureSettings()).device
        facts["device"] = f"{device.kind} ({device.reason})"
    except RefocalError as error:
        problems.append(error.reason)
    return DoctorReport(tuple(problems), facts | _machine())


def _machine() -> dict[str, str]:
    facts = {
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "processors": str(os.cpu_count()),
    }
    for package in _PACKAGES:
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "not installed"
    return facts
