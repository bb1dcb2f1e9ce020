"""Makes the network that Refocal ships, from its pictures to the folder in assets.

    python -m installer.shipped_network --openclipart DIR --grocery DIR --work DIR

An outsider downloads two things. Debian's package openclipart-png (public domain), unpacked:
`apt-get download openclipart-png`, `dpkg-deb -x FILE DIR`, and then DIR is its
usr/share/openclipart/png. And GroceryStoreDataset (MIT; github.com/marcusklasson), a folder for
each packaged product; only the alphabetically first half of them is opened. About 20 minutes of
pictures and half an hour of training on two cores; what was stopped goes on.
"""

import argparse
import dataclasses
import shutil
import sys
from pathlib import Path

from engine.config import FeatureSettings, NetworkChoice, TrainSettings
from engine.jobs import Ticket
from engine.network.kept import MANIFEST, files_of, kept_manifest
from engine.network.manifest import NetworkManifest
from engine.network.registry import fingerprint
from engine.network_requests import TrainReport, TrainRequest
from engine.runtime import Runtime
from engine.service import Engine
from engine.store.paths import LibraryPaths
from engine.training.job import CURVE, RECORD, STEPS
from installer.places import ROOT
from installer.training_pictures.compose import Plan, compose

START = "efficientnet-lite0"
NAME = "efficientnet-lite0-ap"
LICENCE = "Apache-2.0; trained on openclipart (public domain) and GroceryStoreDataset (MIT)"
SEEN = FeatureSettings()
RECIPE = TrainSettings(
    steps=100,
    batch=128,
    smallest_crop=0.4,
    lr=2e-4,
    blend=0.5,
    hold_out=0.03,
    validate_every=20,
)


def main() -> int:
    """Compose, train, publish; prints the mAP of the classes held out."""
    parser = argparse.ArgumentParser(prog="python -m installer.shipped_network")
    for name in ("--openclipart", "--grocery", "--work"):
        parser.add_argument(name, type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    pictures = given.work / "pictures"
    compose(given.openclipart, given.grocery, pictures, Plan())
    report = _trained(pictures, given.work / "library")
    target = _published(LibraryPaths(given.work / "library").networks)
    print(f"{target}: held-out mAP {report.map_before:.3f} before, {report.map_after:.3f} after")
    return 0


def _trained(pictures: Path, library: Path) -> TrainReport:
    request = TrainRequest(pictures, NAME, RECIPE, NetworkChoice(START), LICENCE)
    with Engine.open(library) as engine:
        return engine.train(request, Ticket())


def _published(networks: Path) -> Path:
    """Copy the network with its record into the assets; its manifest then says what it should
    make of the known picture, so that a card that counts wrong is found out."""
    kept = kept_manifest(networks, NAME)
    target = ROOT / "assets" / "networks" / NAME
    target.mkdir(parents=True, exist_ok=True)
    for name in (*files_of(kept), CURVE, STEPS, RECORD):
        shutil.copyfile(networks / NAME / name, target / name)
    with Runtime() as runtime:
        output = tuple(round(value, 4) for value in fingerprint(runtime.network(SEEN, kept)))
    known = NetworkManifest.from_json((target / MANIFEST).read_text(encoding="utf-8"))
    known = dataclasses.replace(known, known_output=output)
    (target / MANIFEST).write_text(known.to_json(), encoding="utf-8")
    return target


if __name__ == "__main__":
    sys.exit(main())
