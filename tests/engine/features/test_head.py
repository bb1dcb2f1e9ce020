"""What follows the pooling, against its equations written out, and what it is made of."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import FeatureSettings, Pooling, RegionScheme
from engine.errors import NetworkError
from engine.features.grid import ospp
from engine.features.head import Head, Linear, linear_bytes, load_linear
from engine.features.pooling import pool
from engine.features.scheme import base_regions
from engine.features.whitening import Whitening, fit
from engine.network.registry import sha256_of
from engine.rank.attribution import attribution, mean_attribution
from engine.rank.qam import match

C, K = 9, 6
seeds = st.integers(0, 2**32 - 1)


def linear(seed: int, dim_in: int = C, dim_out: int = K) -> Linear:
    rng = np.random.default_rng([seed, 1])
    return Linear(
        rng.normal(size=(dim_out, dim_in)).astype(np.float32),
        rng.normal(size=dim_out).astype(np.float32),
    )


def whitening(seed: int, dim: int) -> Whitening:
    rows = np.random.default_rng([seed, 2]).normal(size=(50, dim)) + 0.2
    return fit(rows, name="random", exponent=0.25, dim=dim - 1)


def heads(seed: int) -> list[Head]:
    return [
        Head(linear(seed)),
        Head(linear(seed), unit_first=False),
        Head(whitening=whitening(seed, C)),
        Head(linear(seed), whitening(seed, K)),
        Head(linear(seed), whitening(seed, K), unit_first=False),
    ]


def written_out(head: Head, pooled: np.ndarray) -> np.ndarray:
    """In double precision, one row at a time."""
    x = pooled.astype(np.float64)
    if head.unit_first:
        x = x / np.linalg.norm(x)
    if head.linear is not None:
        x = head.linear.weight.astype(np.float64) @ x + head.linear.bias
        x = x / np.linalg.norm(x)
    if head.whitening is not None:
        own = head.whitening
        assert own.axes is not None
        floored = np.maximum(own.variances, own.floor * own.variances[0])
        x = (x - own.mean) @ own.axes / floored**own.exponent
        x = x / np.linalg.norm(x)
    return x


@given(seeds, st.floats(0.01, 100))
@settings(max_examples=30, deadline=None)
def test_a_head_is_its_equation(seed: int, scale: float) -> None:
    pooled = (scale * np.random.default_rng(seed).uniform(0, 1, (3, C))).astype(np.float32)
    for head in heads(seed):
        expected = np.stack([written_out(head, row) for row in pooled])
        assert head.apply(pooled) == pytest.approx(expected, abs=2e-5)
        assert head.apply(pooled).shape[1] == head.dim_out
        assert head.dim_in == C


def test_an_empty_region_stays_empty() -> None:
    for head in heads(1):
        assert not head.apply(np.zeros((2, C), np.float32)).any()


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_a_product_goes_back_through_a_head(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pooled = rng.uniform(0.1, 3, C).astype(np.float32)
    for head in (Head(), *heads(seed)):
        direction = rng.normal(size=head.dim_out or C)
        w, constant = head.back(direction, pooled)
        assert w @ pooled + constant == pytest.approx(direction @ head.project(pooled), abs=1e-4)


@pytest.mark.parametrize("pooling", list(Pooling))
def test_attribution_adds_up_through_a_head(pooling: Pooling) -> None:
    feature_map = np.maximum(np.random.default_rng(5).normal(size=(C, 5, 6)), 0).astype(np.float32)
    cells = ospp(5, 6, (1, 2))
    for head in heads(4):
        regions = head.apply(pool(feature_map, cells, pooling, unit=False))
        asked = np.asarray(np.random.default_rng(6).normal(size=regions.shape[1]), np.float32)
        asked /= np.linalg.norm(asked)
        merge = match(asked, regions)
        parts = attribution(feature_map, cells, merge.z, asked, pooling=pooling, head=head)
        assert parts.sum() == pytest.approx(merge.score, abs=1e-4)
        z = np.zeros((1, len(cells)))
        z[0, [0, 2]] = 0.25, 0.75
        shares = mean_attribution(feature_map, cells, z, asked[None], pooling=pooling, head=head)
        assert shares.sum() == pytest.approx(float(z[0] @ (regions @ asked)), abs=1e-4)


@pytest.mark.parametrize("scheme", list(RegionScheme))
def test_every_kind_of_region_goes_through_the_head(scheme: RegionScheme) -> None:
    feature_map = np.maximum(np.random.default_rng(5).normal(size=(C, 5, 6)), 0).astype(np.float32)
    asked = FeatureSettings(regions=scheme, clusters=3, levels=(1, 2))
    for head in heads(4):
        found = base_regions(feature_map, asked, p=3, eps=1e-6, head=head)
        pooling = Pooling.SUM if scheme is RegionScheme.FMP else Pooling.GEM
        raw = pool(feature_map, found.weights, pooling, p=3, eps=1e-6, unit=False)
        assert found.features == pytest.approx(head.apply(raw), abs=1e-5)


def test_a_linear_layer_survives_its_file(tmp_path: Path) -> None:
    path, layer = tmp_path / "linear.safetensors", linear(3)
    path.write_bytes(linear_bytes(layer))
    read = load_linear(path, sha256=sha256_of(path))
    assert np.array_equal(read.weight, layer.weight)
    assert np.array_equal(read.bias, layer.bias)
    with pytest.raises(NetworkError, match="wrong checksum"):
        load_linear(path, sha256="0" * 64)
    with pytest.raises(NetworkError, match="cannot be read"):
        load_linear(tmp_path / "none", sha256="0" * 64)


def test_what_does_not_fit_is_refused() -> None:
    ones = np.ones((2, 3), np.float32)
    with pytest.raises(NetworkError, match="does not fit its weight"):
        Linear(ones, np.ones(3, np.float32))
    with pytest.raises(NetworkError, match="no numbers"):
        Linear(ones * np.nan, np.ones(2, np.float32))
    with pytest.raises(NetworkError, match="gives 2 numbers, the whitening takes 9"):
        Head(Linear(ones, np.ones(2, np.float32)), whitening(1, 9))
    with pytest.raises(NetworkError, match="without a linear layer"):
        Head(unit_first=False)
