"""The matchings against hand-computed scores and against the library's functions."""

import numpy as np
import pytest

from engine.comparing.matching import Matching, match
from engine.rank.sparse import merge_many

_F = np.array([[1, 1, 0], [0, 1, 2]], np.float32)


def test_qam_gives_the_golden_scores() -> None:
    parts = np.array([[1, 2, 2], [1, 0.2, 0]], np.float32)
    parts /= np.linalg.norm(parts, axis=1, keepdims=True)
    for part, score in zip(parts, (1.0, 0.8320502943378436), strict=True):
        found, z = match(Matching.QAM, part[None], _F, [0, 2])
        assert found == pytest.approx([score], abs=1e-6)
        assert z.shape == (1, 2)
    both, _ = match(Matching.QAM, parts, _F, [0, 2])
    assert both == pytest.approx([(1.0 + 0.8320502943378436) / 2], abs=1e-6)


def test_the_best_region_is_the_largest_cosine_of_each_candidate() -> None:
    parts = np.eye(3, dtype=np.float32)[:2]
    regions = np.array([[0.6, 0.8, 0], [0, 0, 1], [0.8, 0, 0.6]], np.float16)
    scores, z = match(Matching.BEST, parts, regions, [0, 2, 2, 3])
    assert scores == pytest.approx([(0.6 + 0.8) / 2, 0.0, (0.8 + 0.0) / 2], abs=1e-3)
    assert z.tolist() == [[1, 0, 1], [1, 0, 1]]


def test_a_sparse_merge_is_the_librarys_averaged_over_the_parts() -> None:
    rng = np.random.default_rng(0)
    parts, regions = rng.random((3, 5)), rng.random((7, 5))
    parts /= np.linalg.norm(parts, axis=1, keepdims=True)
    regions /= np.linalg.norm(regions, axis=1, keepdims=True)
    scores, z = match(Matching.SPARSE, parts.astype(np.float32), regions, [0, 3, 7])
    expected, weights = merge_many((parts @ regions.T).astype(np.float32), [0, 3, 7])
    np.testing.assert_allclose(scores, expected.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(z, weights, atol=1e-5)
