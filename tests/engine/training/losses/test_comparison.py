"""Triplets and contrastive pairs against their definitions, pair by pair."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from engine.errors import TrainingError
from engine.training.losses.comparison import ContrastiveLoss, TripletLoss

CLASSES = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2, 5])
BOTH: list[Callable[[Tensor, Tensor], Tensor]] = [TripletLoss(), ContrastiveLoss()]


def _descriptors() -> Tensor:
    source = torch.Generator().manual_seed(1)
    features = torch.randn(len(CLASSES), 5, generator=source) + 1
    return functional.normalize(features, dim=1).requires_grad_()


def _distances(descriptors: Tensor) -> list[list[float]]:
    rows = descriptors.detach()
    return [[float((one - other).norm()) for other in rows] for one in rows]


@pytest.mark.parametrize("margin", [0.1, 0.6])
def test_triplets_are_the_hardest_of_each_query(margin: float) -> None:
    descriptors = _descriptors()
    violations = []
    for query, distances in enumerate(_distances(descriptors)):
        same = CLASSES[query] == CLASSES
        far = [d for i, d in enumerate(distances) if same[i] and i != query]
        near = [d for i, d in enumerate(distances) if not same[i]]
        if far and (violation := max(far) - min(near) + margin) > 0:
            violations.append(violation)
    assert 1 < len(violations) < len(CLASSES)
    expected = sum(violations) / len(violations)
    found = TripletLoss(margin)(descriptors, CLASSES)
    assert found.item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("margin", [0.6, 0.9])
def test_contrastive_pairs(margin: float) -> None:
    descriptors = _descriptors()
    alike, close = [], []
    for query, distances in enumerate(_distances(descriptors)):
        for other, distance in enumerate(distances):
            if other != query and CLASSES[other] == CLASSES[query]:
                alike.append(distance)
            elif other != query and distance < margin:
                close.append(margin - distance)
    assert close
    expected = sum(alike) / len(alike) + sum(close) / len(close)
    found = ContrastiveLoss(margin)(descriptors, CLASSES)
    assert found.item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("loss", BOTH)
def test_descent_lowers_it(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    descriptors = _descriptors()
    value = loss(descriptors, CLASSES)
    value.backward()  # type: ignore[no-untyped-call]
    assert descriptors.grad is not None
    lower = functional.normalize(descriptors.detach() - 0.02 * descriptors.grad, dim=1)
    assert loss(lower, CLASSES) < value


@pytest.mark.parametrize("loss", BOTH)
def test_a_batch_without_positives_is_refused(loss: Callable[[Tensor, Tensor], Tensor]) -> None:
    with pytest.raises(TrainingError, match="no query of the batch has a positive"):
        loss(_descriptors(), torch.arange(len(CLASSES)))


def test_triplets_of_one_class_are_refused() -> None:
    with pytest.raises(TrainingError, match="negative"):
        TripletLoss()(_descriptors(), torch.zeros_like(CLASSES))


def test_pairs_of_one_class_draw_together() -> None:
    assert ContrastiveLoss()(_descriptors(), torch.zeros_like(CLASSES)) > 0


@pytest.mark.parametrize("loss", BOTH)
def test_a_descriptor_that_is_no_number_is_refused(
    loss: Callable[[Tensor, Tensor], Tensor],
) -> None:
    descriptors = _descriptors().detach()
    descriptors[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="diverged"):
        loss(descriptors, CLASSES)
