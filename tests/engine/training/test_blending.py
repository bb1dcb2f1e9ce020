"""Weights between those of the start and those that were trained."""

import pytest
import torch

from engine.training.trainer import blended


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.0), (0.25, 1.5), (1.0, 3.0)])
def test_a_share_of_the_trained_weights_is_kept(share: float, expected: float) -> None:
    start, best = {"w": torch.full((2, 2), 1.0)}, {"w": torch.full((2, 2), 3.0)}
    kept = blended(start, best, share)
    assert kept["w"].flatten().tolist() == pytest.approx([expected] * 4)
    assert start["w"].max() == 1
    assert best["w"].min() == 3
