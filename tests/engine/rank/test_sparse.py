"""Sparse merging against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.rank.sparse import merge_many, weights

_cosines = arrays(np.float32, st.integers(1, 12), elements=st.floats(-1, 1, width=32))


def _objective(z: np.ndarray, cosines: np.ndarray, sharpness: float) -> float:
    return float(z @ cosines - (z @ z) / (2 * sharpness))


def test_two_regions_worked_out_by_hand() -> None:
    # s = 5, c = (.9, .8): both take part, z1 - z2 = s (c1 - c2) = .5 and z1 + z2 = 1.
    assert weights([0.9, 0.8, 0.1], sharpness=5.0) == pytest.approx([0.75, 0.25, 0.0], abs=1e-6)


def test_a_region_far_above_the_rest_stands_alone() -> None:
    assert weights([0.9, 0.69], sharpness=5.0) == pytest.approx([1.0, 0.0], abs=1e-6)


def test_without_penalty_the_best_region_stands_alone() -> None:
    assert weights([0.2, 0.9, 0.9], sharpness=np.inf).tolist() == [0.0, 1.0, 0.0]


@given(_cosines, st.floats(0.5, 50), st.integers(0, 2**32 - 1))
def test_no_other_weights_do_better(cosines: np.ndarray, sharpness: float, seed: int) -> None:
    z = weights(cosines, sharpness=sharpness)
    assert z.min() >= 0
    assert z.sum() == pytest.approx(1, abs=1e-5)
    best = _objective(z.astype(float), cosines, sharpness)
    for other in np.random.default_rng(seed).dirichlet(np.ones(len(cosines)), size=50):
        assert _objective(other, cosines, sharpness) <= best + 1e-5


@given(_cosines, st.floats(0.5, 50))
def test_the_score_lies_between_the_mean_and_the_best(cosines: np.ndarray, s: float) -> None:
    scores, _ = merge_many(cosines[None], [0, len(cosines)], sharpness=s)
    assert cosines.mean() - 1e-5 <= scores[0, 0] <= cosines.max() + 1e-5


def test_candidates_of_different_sizes_do_not_touch_each_other() -> None:
    cosines = np.random.default_rng(0).uniform(-1, 1, (3, 9)).astype(np.float32)
    scores, z = merge_many(cosines, [0, 2, 2, 5, 9])
    assert scores[:, 1].tolist() == [0, 0, 0]
    for part in range(3):
        for n, (first, last) in enumerate([(0, 2), (2, 2), (2, 5), (5, 9)]):
            if first < last:
                own = weights(cosines[part, first:last])
                assert z[part, first:last] == pytest.approx(own)
                assert scores[part, n] == pytest.approx(own @ cosines[part, first:last], abs=1e-6)
