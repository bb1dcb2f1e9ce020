"""Query expansion by hand-computed numbers."""

import numpy as np
import pytest

from engine.rank.expansion import alpha_weighted, average

QUERY = np.array([1.0, 0.0], dtype=np.float32)
FOUND = np.array([[0.6, 0.8], [-0.6, 0.8]], dtype=np.float32)


def test_average_is_the_unit_mean() -> None:
    assert average(QUERY, FOUND) == pytest.approx(np.array([1.0, 1.6]) / np.hypot(1.0, 1.6))


def test_alpha_weighs_by_similarity_and_ignores_the_opposite() -> None:
    expected = np.array([1.0 + 0.36 * 0.6, 0.36 * 0.8])
    expanded = alpha_weighted(QUERY, FOUND, alpha=2.0)
    assert expanded == pytest.approx(expected / np.linalg.norm(expected))
    assert expanded.dtype == np.float32


def test_alpha_zero_counts_each_similar_hit_alike() -> None:
    expected = np.array([1.6, 0.8])
    assert alpha_weighted(QUERY, FOUND, alpha=0.0) == pytest.approx(
        expected / np.linalg.norm(expected)
    )


def test_nothing_found_leaves_the_query() -> None:
    nothing = np.zeros((0, 2), dtype=np.float32)
    assert average(QUERY, nothing) == pytest.approx(QUERY)
    assert alpha_weighted(QUERY, nothing, alpha=2.0) == pytest.approx(QUERY)
