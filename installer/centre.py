"""Learns what usual base regions of a shipped network have in common, and keeps it in assets.

Run it after a change of the network, of its regions or of the sample album:
``python -m installer.centre [NETWORK]``. The sample album is the project's own, so the result can
be shipped, and no photo that Refocal is measured on has a part in it.
"""

import sys

import numpy as np

from engine.config import FeatureSettings
from engine.features.whitening import Whitening, save
from engine.media.pool import DecodeTask
from engine.network.registry import OFF_THE_SHELF, centre_file, manifest
from engine.runtime import Runtime, Use
from engine.types import FloatArray, Picture
from installer.places import ROOT


def main(network: str = OFF_THE_SHELF) -> int:
    """Write the file; prints how many regions it was learned from."""
    regions = np.concatenate(_regions_of_the_sample(FeatureSettings(), network))
    centre = Whitening.centring(regions.mean(axis=0), name="sample album", count=len(regions))
    target = centre_file(network)
    target.parent.mkdir(parents=True, exist_ok=True)
    save(centre, target)
    print(f"{target}: the mean of {len(regions)} regions")
    return 0


def _regions_of_the_sample(features: FeatureSettings, name: str) -> list[FloatArray]:
    with Runtime() as runtime:
        network, pool = runtime.network(features, manifest(name)), runtime.pool(Use.WORK)
        found = []
        for path in sorted((ROOT / "assets" / "sample").glob("*.jpg")):
            task = DecodeTask(0, Picture(path), features.size_px, None)
            found.append(network.extract([pool.decode(task).pixels])[0].regions)
        return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
