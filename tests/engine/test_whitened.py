"""Whitening a network: learned from photos, kept with a copy, used by searches."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.config import FeatureSettings, NetworkChoice
from engine.errors import NetworkError, SettingsError
from engine.features.whitening import fit
from engine.jobs import Ticket
from engine.network.registry import DEFAULT
from engine.network_requests import UseNetworkRequest, WhitenNetworkRequest
from engine.requests import IndexRequest, SearchRequest
from engine.runtime import Runtime
from engine.service import Engine
from engine.types import Picture

pytestmark = pytest.mark.heavy

FEATURES = FeatureSettings(size_px=96)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Twelve painted photos, all different."""
    folder = tmp_path / "photos"
    folder.mkdir()
    chance = np.random.default_rng(7)
    for number in range(12):
        coarse = chance.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((96, 72), Image.Resampling.BICUBIC)
        picture.save(folder / f"{number}.png")
    return folder


@pytest.fixture
def engine(tmp_path: Path, photos: Path) -> Engine:
    engine = Engine.open(tmp_path / "library")
    engine.index(IndexRequest((photos,), FEATURES), Ticket())
    return engine


def test_a_whitening_from_the_library_is_that_of_its_features(
    engine: Engine, photos: Path, tmp_path: Path
) -> None:
    asked = WhitenNetworkRequest(DEFAULT, "white", exponent=0.5, dim=8)
    with engine:
        info = engine.whiten_network(asked, Ticket())
        assert info.whitened
        assert info.dim == 8
        assert "library" in info.origin
        folder = tmp_path / "library" / "networks" / "white"
        with Runtime() as runtime:
            plain = runtime.network(FEATURES)
            white = runtime.network(
                FEATURES, runtime.manifest(NetworkChoice("white", folder=folder))
            )
            seen = [np.asarray(Image.open(file)) for file in sorted(photos.iterdir())]
            features = plain.extract(seen)
            rows = [row for one in features for row in (one.descriptor[None], one.regions)]
            expected = fit(np.concatenate(rows), name="plain", exponent=0.5, dim=8)
            got = white.extract(seen)[0]
        # Regions are stored in two bits a direction, so what taught it was not quite exact.
        found = np.abs(got.descriptor @ expected.apply(features[0].descriptor))
        assert found > 0.9


def test_a_whitened_network_finds_photos(engine: Engine, photos: Path, tmp_path: Path) -> None:
    asked = WhitenNetworkRequest(DEFAULT, "white", folder=photos, exponent=0.25, dim=8)
    with engine:
        engine.whiten_network(asked, Ticket())
        engine.use_network(UseNetworkRequest("white"), Ticket())
        report = engine.index(IndexRequest(()), Ticket())
        assert report.indexed == 12
        request = SearchRequest(Picture(photos / "3.png"), with_own=True, top=3)
        answer = engine.search(request, Ticket())
        assert answer.hits[0].photo.path.name == "3.png"
        assert answer.hits[0].score > answer.hits[1].score


def test_what_cannot_be_learned_is_refused_and_leaves_nothing(
    engine: Engine, photos: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with engine:
        for asked, kind, words in (
            (WhitenNetworkRequest("none", "white"), NetworkError, "no network 'none'"),
            (WhitenNetworkRequest(DEFAULT, DEFAULT), NetworkError, "names another"),
            (WhitenNetworkRequest(DEFAULT, "white", folder=empty), NetworkError, "no photo"),
            (WhitenNetworkRequest(DEFAULT, "white", dim=900), SettingsError, "axes"),
        ):
            with pytest.raises(kind, match=words):
                engine.whiten_network(asked, Ticket())
    assert not (tmp_path / "library" / "networks" / "white").exists()
