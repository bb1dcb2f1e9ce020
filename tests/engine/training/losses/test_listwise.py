"""The listwise loss of a batch of descriptors."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from engine.errors import TrainingError
from engine.rank.precision import average_precision_of_scores
from engine.training.losses.listwise import AveragePrecisionLoss
from tests.engine.training.losses.dense import dense_precision

CLASSES = torch.tensor([3, 3, 3, 7, 7, 0, 0, 0, 0, 0, 9])
"""Unequal in size, and one class of one."""


def _features(count: int = len(CLASSES), *, dim: int = 6, seed: int = 0) -> Tensor:
    """What is normalised to descriptors, a leaf: (count, dim) float64, half of it shared."""
    source = torch.Generator().manual_seed(seed)
    own, shared = (torch.randn(n, dim, generator=source).double() for n in (count, 1))
    return (own + shared).requires_grad_()


def _unit(features: Tensor) -> Tensor:
    return functional.normalize(features, dim=1)


def _gradient(loss: AveragePrecisionLoss, features: Tensor, classes: Tensor) -> Tensor:
    return torch.autograd.grad(loss(_unit(features), classes), features)[0]


def _dense_loss(descriptors: Tensor, loss: AveragePrecisionLoss) -> Tensor:
    """Equation 12, query by query."""
    total, weights = torch.zeros((), dtype=torch.float64), 0.0
    for query, own_class in enumerate(CLASSES):
        others = torch.arange(len(CLASSES)) != query
        kept = others | loss.self_match
        labels = (own_class == CLASSES)[kept]
        if not labels.any():
            continue
        scores = (descriptors @ descriptors[query])[kept]
        weight = 1 / int((own_class == CLASSES).sum()) if loss.class_weights else 1.0
        (precision,) = dense_precision(
            scores[None],
            labels[None],
            bins=loss.bins,
            low=loss.low,
            high=loss.high,
            ties=loss.ties,
        )
        total, weights = total + weight * precision, weights + weight
    return 1 - total / weights


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("self_match", [False, True])
@pytest.mark.parametrize("class_weights", [False, True])
def test_is_the_mean_of_equation_12(ties: bool, self_match: bool, class_weights: bool) -> None:
    features = _features()
    for loss in (
        AveragePrecisionLoss(  # more codes than a byte has
            201, ties=ties, self_match=self_match, class_weights=class_weights
        ),
        AveragePrecisionLoss(ties=ties, self_match=self_match, class_weights=class_weights),
        AveragePrecisionLoss(
            7, ties=ties, self_match=self_match, class_weights=class_weights, low=-0.5
        ),
    ):
        expected = _dense_loss(_unit(features), loss)
        assert loss(_unit(features), CLASSES).item() == pytest.approx(expected.item(), abs=1e-9)
        torch.testing.assert_close(
            _gradient(loss, features, CLASSES),
            torch.autograd.grad(expected, features)[0],
            rtol=1e-7,
            atol=1e-9,
        )


@pytest.mark.parametrize("self_match", [False, True])
def test_gradient_is_that_of_finite_differences(self_match: bool) -> None:
    loss = AveragePrecisionLoss(bins=5, self_match=self_match)

    def value(features: Tensor) -> Tensor:
        return loss(_unit(features), CLASSES)

    assert torch.autograd.gradcheck(value, _features(), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize("self_match", [False, True])
@pytest.mark.parametrize("memory_bytes", [1, 1000])
def test_chunks_change_nothing(memory_bytes: int, self_match: bool) -> None:
    features = _features()
    whole = AveragePrecisionLoss(self_match=self_match)
    chunks = AveragePrecisionLoss(self_match=self_match, memory_bytes=memory_bytes)
    expected = whole(_unit(features), CLASSES).item()
    assert chunks(_unit(features), CLASSES).item() == pytest.approx(expected, abs=1e-14)
    torch.testing.assert_close(
        _gradient(chunks, features, CLASSES),
        _gradient(whole, features, CLASSES),
        rtol=1e-12,
        atol=1e-14,
    )


def test_gradient_is_scaled_by_what_comes_after() -> None:
    features, loss = _features(), AveragePrecisionLoss()
    tripled = torch.autograd.grad(3 * loss(_unit(features), CLASSES), features)[0]
    torch.testing.assert_close(tripled, 3 * _gradient(loss, features, CLASSES))


def test_no_graph_over_similarities_is_kept() -> None:
    descriptors = _unit(_features()).detach().requires_grad_()
    value: Any = AveragePrecisionLoss()(descriptors, CLASSES)
    assert [kept.shape for kept in value.grad_fn.saved_tensors] == [descriptors.shape]


def test_without_a_gradient_there_is_none() -> None:
    descriptors = _unit(_features()).detach()
    value = AveragePrecisionLoss()(descriptors, CLASSES)
    assert not value.requires_grad
    assert value.item() == AveragePrecisionLoss()(_unit(_features()), CLASSES).item()


# --- queries and their weights --------------------------------------------------------------


def _sizes(classes: Tensor) -> Tensor:
    return (classes[:, None] == classes).sum(dim=1)


def test_every_class_weighs_the_same_and_the_mean_is_one() -> None:
    weights = AveragePrecisionLoss().weights_of(_sizes(CLASSES), torch.float64) * len(CLASSES)
    assert weights.mean().item() == pytest.approx(1)
    assert weights.tolist() == pytest.approx(
        [len(CLASSES) / (4 * size) for size in _sizes(CLASSES).tolist()]
    )


def test_a_query_that_does_not_count_leaves_its_weight_to_the_others() -> None:
    for class_weights in (False, True):
        loss = AveragePrecisionLoss(class_weights=class_weights, self_match=False)
        weights = loss.weights_of(_sizes(CLASSES), torch.float64)
        assert weights[-1] == 0
        assert weights.sum().item() == pytest.approx(1)
    assert weights[CLASSES == 7].sum().item() == pytest.approx(1 / 3)


def test_queries_weigh_the_same_without_class_weights() -> None:
    weights = AveragePrecisionLoss(class_weights=False).weights_of(_sizes(CLASSES), torch.float64)
    assert weights.tolist() == pytest.approx([1 / len(CLASSES)] * len(CLASSES))


def test_a_batch_without_positives_is_refused() -> None:
    descriptors = _unit(_features(4))
    loss = AveragePrecisionLoss(self_match=False)
    with pytest.raises(TrainingError, match="no query of the batch has a positive"):
        loss(descriptors, torch.arange(4))


def test_a_query_alone_in_its_class_pushes_the_others_away_if_it_matches_itself() -> None:
    """Two descriptors that are almost the same and of two classes."""
    features = torch.tensor([[1.0, 0.0], [1.0, 0.05]]).double().requires_grad_()
    gradient = _gradient(AveragePrecisionLoss(), features, torch.arange(2))
    moved = features - 1e-3 * gradient
    assert (_unit(moved)[0] @ _unit(moved)[1]) < (_unit(features)[0] @ _unit(features)[1])


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(len(CLASSES))), st.booleans())
def test_the_order_of_the_batch_does_not_matter(order: list[int], self_match: bool) -> None:
    features, loss = _features(), AveragePrecisionLoss(self_match=self_match)
    shuffled = features.detach()[order].requires_grad_()
    expected = loss(_unit(features), CLASSES).item()
    assert loss(_unit(shuffled), CLASSES[order]).item() == pytest.approx(expected, abs=1e-12)
    torch.testing.assert_close(
        _gradient(loss, shuffled, CLASSES[order]),
        _gradient(loss, features, CLASSES)[order],
        rtol=1e-9,
        atol=1e-12,
    )


# --- numbers --------------------------------------------------------------------------------


def _large() -> tuple[Tensor, Tensor]:
    return _features(300, dim=32), torch.arange(300) // 5


def test_float32_is_close_to_float64() -> None:
    """Rows whose product with themselves rounds to above 1 count once too."""
    features, classes = _large()
    single = features.detach().float().requires_grad_()
    squares = (_unit(single) ** 2).sum(dim=1)
    assert (squares > 1).any()
    loss = AveragePrecisionLoss()
    expected = loss(_unit(features), classes).item()
    assert loss(_unit(single), classes).item() == pytest.approx(expected, abs=1e-6)
    wide = _gradient(loss, features, classes)
    apart = _gradient(loss, single, classes).double() - wide
    assert (apart.norm() / wide.norm()).item() < 1e-3  # a score at an edge may change its interval


def test_bfloat16_is_close_to_float32() -> None:
    features, classes = _large()
    single = _unit(features).detach().float().requires_grad_()
    half = single.detach().bfloat16().requires_grad_()
    loss = AveragePrecisionLoss()
    value = loss(half, classes)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(loss(single, classes).item(), abs=5e-3)
    widened = half.detach().float().requires_grad_()
    (found,) = torch.autograd.grad(value, half)
    (expected,) = torch.autograd.grad(loss(widened, classes), widened)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), expected, rtol=0.01, atol=1e-9)


def test_autocast_does_not_round_similarities() -> None:
    features, classes = _large()
    descriptors = _unit(features).detach().float().requires_grad_()
    loss = AveragePrecisionLoss()
    expected = loss(descriptors, classes)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = loss(descriptors, classes)
    assert found.item() == expected.item()


def test_a_descriptor_that_is_no_number_is_refused() -> None:
    descriptors = _unit(_features()).detach()
    descriptors[2, 1] = math.nan
    with pytest.raises(TrainingError, match="diverged"):
        AveragePrecisionLoss()(descriptors, CLASSES)


@pytest.mark.parametrize("options", [{}, {"ties": True}, {"self_match": False}])
def test_descent_brings_exact_precision_to_one(options: dict[str, Any]) -> None:
    features, classes = _features(60, dim=16), torch.arange(60) // 4
    loss = AveragePrecisionLoss(**options)
    assert _mean_exact_precision(features, classes) < 0.5
    optimiser = torch.optim.Adam([features], lr=0.05)
    for _ in range(120):
        optimiser.zero_grad()
        loss(_unit(features), classes).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert _mean_exact_precision(features, classes) > 0.95


def _mean_exact_precision(features: Tensor, classes: Tensor) -> float:
    """Of every query, itself left out."""
    descriptors = _unit(features).detach()
    found = []
    for query in range(len(classes)):
        others = torch.arange(len(classes)) != query
        scores = (descriptors @ descriptors[query])[others]
        labels = (classes == classes[query])[others]
        found.append(average_precision_of_scores(scores.numpy(), labels.numpy()))
    return sum(value for value in found if value is not None) / len(found)
