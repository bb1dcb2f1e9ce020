"""Region vectors as bytes: what is kept, and how truly."""

import subprocess
import sys

import numpy as np
import pytest

from engine.config import Codec, FeatureSettings
from engine.features.codes import DIRECTIONS, HalfFloats, TwoBits, codec_for, signs_of, two_bits_for
from engine.features.grid import ospp
from engine.types import FloatArray

DIMS = [16, 27, 512, 1280, 2048]


def unit(rows: np.ndarray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


def photo(dim: int, *, seed: int = 0, regions: int = 40) -> tuple[FloatArray, FloatArray]:
    """A descriptor (1, D) and regions (R, D) like pooled features after a ReLU."""
    chance = np.random.default_rng(seed)
    own = unit(chance.gamma(0.3, size=(1, dim)) + 1e-3)
    return own, unit(own * 3 + unit(chance.gamma(0.3, size=(regions, dim)) + 1e-3) * 3)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", list(Codec))
def test_cosines_are_near_the_true_ones_and_right_on_average(kind: Codec, dim: int) -> None:
    codec = codec_for(kind, dim)
    own, regions = photo(dim, regions=200)
    owners = np.zeros(200, dtype=np.int64)
    queries = unit(np.random.default_rng(1).gamma(0.3, size=(50, dim)) + 1e-3)
    codes = codec.encode(regions, own, owners)
    assert codes.shape == (200, codec.width)
    assert codes.dtype == np.uint8
    wrong = codec.cosines(queries, codes, own, owners) - queries @ regions.T
    allowed = 0.001 if kind is Codec.FLOAT16 else 0.02 + 0.3 / np.sqrt(dim)
    assert wrong.std() < allowed
    assert abs(wrong.mean()) < allowed / 4


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", list(Codec))
def test_what_is_decoded_is_like_what_was_encoded(kind: Codec, dim: int) -> None:
    codec = codec_for(kind, dim)
    own, regions = photo(dim)
    owners = np.zeros(len(regions), dtype=np.int64)
    decoded = codec.decode(codec.encode(regions, own, owners), own, owners)
    np.testing.assert_allclose(np.linalg.norm(decoded, axis=1), 1, atol=2e-3)
    assert (decoded * regions).sum(axis=1).min() > 0.9


def test_two_bits_know_whose_region_it_is() -> None:
    codec = two_bits_for(512)
    photos = [photo(512, seed=seed, regions=3) for seed in range(4)]
    own = np.concatenate([descriptor for descriptor, _ in photos])
    regions = np.concatenate([found for _, found in photos])
    owners = np.repeat(np.arange(4), 3)
    together = codec.encode(regions, own, owners)
    for number, (descriptor, found) in enumerate(photos):
        alone = codec.encode(found, descriptor, np.zeros(3, dtype=np.int64))
        np.testing.assert_array_equal(together[owners == number], alone)


def test_a_region_that_is_the_whole_photo_is_kept_exactly() -> None:
    codec = two_bits_for(512)
    own, _ = photo(512)
    owners = np.zeros(1, dtype=np.int64)
    decoded = codec.decode(codec.encode(own, own, owners), own, owners)
    np.testing.assert_allclose(decoded, own, atol=1e-3)


def test_signs_are_the_signs() -> None:
    codec = two_bits_for(512)
    own, regions = photo(512)
    owners = np.zeros(len(regions), dtype=np.int64)
    signs, gain = signs_of(codec.encode(regions, own, owners))
    along = (regions * own).sum(axis=1, keepdims=True)
    expected = codec.turned(regions - along * own) > 0
    np.testing.assert_array_equal(np.unpackbits(signs, axis=1), expected)
    assert (gain > 0).all()


@pytest.mark.parametrize("kind", list(Codec))
def test_bytes_that_no_vector_becomes_are_known(kind: Codec) -> None:
    codec = codec_for(kind, 64)
    own, regions = photo(64, regions=5)
    codes = codec.encode(regions, own, np.zeros(5, dtype=np.int64))
    assert codec.plausible(codes)
    codes[2, :4] = np.frombuffer(np.array([np.nan, np.inf], "<f2").tobytes(), np.uint8)
    assert not codec.plausible(codes)


def test_the_directions_are_the_same_in_every_process() -> None:
    code = (
        "import numpy as np; from engine.features.codes import two_bits_for;"
        "print(float(two_bits_for(96).turned(np.ones((1, 96), np.float32))[0, :200].sum()))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = two_bits_for(96).turned(np.ones((1, 96), np.float32))[0, :200].sum()
    assert float(other.stdout) == pytest.approx(float(here), abs=1e-3)


def test_the_directions_are_orthogonal() -> None:
    turn = TwoBits(DIRECTIONS).turned(np.eye(DIRECTIONS, dtype=np.float32))
    np.testing.assert_allclose(turn @ turn.T, np.eye(DIRECTIONS), atol=1e-4)


@pytest.mark.parametrize("cells", [(18, 24), (16, 24), (24, 18), (14, 24)])
def test_a_photo_takes_less_than_12_kb(cells: tuple[int, int]) -> None:
    standard, dim = FeatureSettings(), 1280
    regions = len(ospp(*cells, standard.levels))
    box_bytes, descriptor_bytes = 16, 2 * dim
    region_bytes = codec_for(standard.codec, dim).width + box_bytes
    assert descriptor_bytes + regions * region_bytes <= 12_000
    assert HalfFloats(dim).width == 2 * dim


def test_few_queries_and_many_see_the_same() -> None:
    codec = two_bits_for(1280)
    own, regions = photo(1280, regions=600)
    owners = np.zeros(600, dtype=np.int64)
    codes = codec.encode(regions, own, owners)
    queries = unit(np.random.default_rng(2).gamma(0.3, size=(9, 1280)))
    together = codec.cosines(queries, codes, own, owners)
    alone = [codec.cosines(query[None], codes, own, owners)[0] for query in queries]
    np.testing.assert_allclose(alone, together, atol=1e-5)
