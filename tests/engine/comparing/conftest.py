"""Painted scenes with a ground truth, and an extraction of them without weights."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from engine.comparing.extraction import Extraction, Source
from engine.comparing.kept import KeptArrays
from engine.config import FeatureSettings, NetworkChoice
from engine.evaluation.groundtruth import GroundTruth
from engine.evaluation.reading import read
from engine.jobs import Ticket
from engine.media.pool import DecodePool
from engine.network.manifest import NetworkManifest
from engine.network.network import Network
from engine.runtime import Runtime, Use
from engine.types import Box
from tests.engine.searching.conftest import (
    BLUE_AND_YELLOW,
    BLUE_PLACES,
    RED_AND_GREEN,
    RED_PLACES,
    paint_scene,
)
from tests.fakes.colour_network import ColourNetwork
from tests.fakes.inline_pool import InlinePool

FEATURES = FeatureSettings(size_px=256)


class Extractions:
    """Makes extractions that share a cache; ``loaded`` counts networks."""

    def __init__(self, folder: Path) -> None:
        self.kept = KeptArrays(folder)
        self.loaded = 0

    def __call__(self, features: FeatureSettings = FEATURES) -> Extraction:
        network = ColourNetwork(features)

        def load() -> ColourNetwork:
            self.loaded += 1
            return network

        source = Source(network.manifest, features, load)
        return Extraction(source, self.kept, pool=InlinePool(), thumbnail_px=32, ticket=Ticket())


@pytest.fixture
def extractions(tmp_path: Path) -> Extractions:
    return Extractions(tmp_path / "cache")


def polygon(box: Box) -> list[list[float]]:
    x, y, w, h = box.xywh
    return [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]


def write_truth(folder: Path, queries: Sequence[dict[str, object]], photos: Sequence[str]) -> None:
    content = {"name": "scenes", "photos": list(photos), "queries": list(queries)}
    (folder / "gt.json").write_text(json.dumps(content))


@pytest.fixture
def scenes(tmp_path: Path) -> GroundTruth:
    """Three scenes with a red thing, two with a blue one, three with none. One boxed question for
    the red thing and one for the blue, with masks."""
    folder = tmp_path / "scenes"
    names = []
    for thing, places, name in (
        (RED_AND_GREEN, RED_PLACES, "red"),
        (BLUE_AND_YELLOW, BLUE_PLACES, "blue"),
    ):
        for number, place in enumerate(places):
            names.append(f"{name}_{number}.png")
            paint_scene(folder / names[-1], seed=len(names), thing=thing, at=place)
    for number in range(3):
        names.append(f"plain_{number}.png")
        paint_scene(folder / names[-1], seed=90 + number, thing=((90, 90, 60),), at=RED_PLACES[0])
    queries: list[dict[str, object]] = [
        {
            "photo": "red_0.png",
            "box": list(RED_PLACES[0].xywh),
            "positives": ["red_1.png", "red_2.png"],
            "masks": {f"red_{n}.png": [polygon(RED_PLACES[n])] for n in (1, 2)},
        },
        {
            "photo": "blue_0.png",
            "box": list(BLUE_PLACES[0].xywh),
            "positives": ["blue_1.png"],
            "masks": {"blue_1.png": [polygon(BLUE_PLACES[1])]},
        },
    ]
    write_truth(folder, queries, names)
    return read(folder)


def random_map(seed: int, *, channels: int = 40, h: int = 6, w: int = 8) -> np.ndarray:
    """(C, h, w) float32 like that of a network after a ReLU: nine of ten values are 0."""
    rng = np.random.default_rng(seed)
    values = rng.random((channels, h, w)) * (rng.random((channels, h, w)) < 0.1)
    return values.astype(np.float32)


class PaintedRuntime(Runtime):
    """Without processes and weights; ``networks`` counts those that were loaded, ``layers`` the
    ones that were chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.networks = 0
        self.layers: list[str | None] = []

    def manifest(self, choice: NetworkChoice) -> NetworkManifest:
        self.layers.append(choice.layer)
        painted = ColourNetwork(FeatureSettings()).manifest
        return replace(painted, layer=choice.layer or painted.layer)

    def network(self, features: FeatureSettings, known: NetworkManifest | None = None) -> Network:
        self.networks += 1
        return cast(Network, ColourNetwork(features))

    def pool(self, use: Use) -> DecodePool:
        return cast(DecodePool, InlinePool())


@pytest.fixture
def runtime() -> PaintedRuntime:
    return PaintedRuntime()
