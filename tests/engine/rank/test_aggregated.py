"""The parts of a global cosine, for each aggregation."""

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.config import Aggregation
from engine.features.aggregation import aggregate
from engine.features.head import Head
from engine.features.whitening import Whitening, fit
from engine.rank.aggregated import global_attribution

P, EPS = 3.0, 1e-6


def _feature_map(seed: int, *, h: int, w: int) -> NDArray[np.float32]:
    values = np.maximum(np.random.default_rng(seed).standard_normal((12, h, w)) - 0.5, 0.0)
    return values.astype(np.float32)


def _whitening() -> Whitening:
    rows = np.abs(np.random.default_rng(9).standard_normal((60, 12)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return fit(rows, name="random", exponent=0.25, dim=5)


@pytest.mark.parametrize("aggregation", list(Aggregation))
@pytest.mark.parametrize("whitened", [False, True])
@pytest.mark.parametrize(("h", "w"), [(7, 5), (1, 3), (1, 1)])
def test_parts_add_up_to_the_cosine(
    aggregation: Aggregation, h: int, w: int, whitened: bool
) -> None:
    feature_map = _feature_map(3, h=h, w=w)
    whitening = _whitening() if whitened else None
    head = Head(whitening=whitening) if whitening else None
    query = np.abs(np.random.default_rng(4).standard_normal(5 if whitened else 12)) * 3
    parts = global_attribution(feature_map, aggregation, query, p=P, eps=EPS, head=head)
    seen = aggregate(feature_map, aggregation, p=P, eps=EPS, whitening=whitening)
    assert parts.shape == (h, w)
    assert parts.sum() == pytest.approx(float(seen @ query / np.linalg.norm(query)), abs=1e-6)


@pytest.mark.parametrize("aggregation", list(Aggregation))
def test_the_thing_that_the_query_shows_is_warm(aggregation: Aggregation) -> None:
    feature_map = _feature_map(5, h=6, w=8)
    query = np.zeros(12)
    query[0] = 1.0
    feature_map[0] = 0.0
    feature_map[0, 4, 6] = 2.0
    parts = global_attribution(feature_map, aggregation, query, p=P, eps=EPS)
    assert parts.argmax() == 4 * 8 + 6
    assert parts[4, 6] == pytest.approx(parts.sum(), abs=1e-4)


def test_an_empty_map_has_no_parts() -> None:
    for aggregation in (Aggregation.CROW, Aggregation.SPOC, Aggregation.MAC):
        parts = global_attribution(np.zeros((12, 2, 2)), aggregation, np.ones(12), p=P, eps=EPS)
        assert not parts.any()
