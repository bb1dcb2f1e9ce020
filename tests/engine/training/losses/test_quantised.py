"""Quantised average precision of scores and labels."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.errors import SettingsError, TrainingError
from engine.rank.precision import average_precision_of_scores
from engine.training.losses.histogram import Bins, place
from engine.training.losses.quantised import quantised_precision
from tests.engine.training.losses.dense import dense_precision

SCORES, LABELS = (0.9, 0.6, 0.1, -0.4), (1, 0, 1, 0)


def _random(
    queries: int, count: int, *, seed: int = 0, reach: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Scores in ±reach, float64, and labels with a positive at least for each query."""
    source = torch.Generator().manual_seed(seed)
    scores = (torch.rand(queries, count, generator=source, dtype=torch.float64) * 2 - 1) * reach
    labels = torch.rand(queries, count, generator=source) < 0.2
    labels[:, 0] = True
    return scores, labels


def _gradient(values: Tensor, scores: Tensor) -> Tensor:
    """Of a sum that weighs each query differently, so that a mix-up of queries shows."""
    weights = torch.arange(1, len(values) + 1, dtype=values.dtype)
    return torch.autograd.grad(values @ weights, scores)[0]


@pytest.mark.parametrize(
    ("count", "ties", "expected"),
    [
        (5, False, 0.6790909090909092),
        (5, True, 0.7653571428571428),
        (20, False, 0.8164965986394556),
        (20, True, 0.8321598748310932),
    ],
)
def test_golden_values(count: int, ties: bool, expected: float) -> None:
    scores = torch.tensor([SCORES], dtype=torch.float64)
    found = quantised_precision(scores, torch.tensor([LABELS]), bins=Bins(count), ties=ties)
    assert found.values.item() == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("ties", [False, True])
def test_golden_scores_come_near_exact_precision_with_many_bins(ties: bool) -> None:
    scores = torch.tensor([SCORES], dtype=torch.float64)
    found = quantised_precision(scores, torch.tensor([LABELS]), bins=Bins(20_000), ties=ties)
    exact = 0.8333333
    assert found.values.item() <= exact
    assert found.values.item() == pytest.approx(exact, abs=0.08 if not ties else 0.002)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "bins", [Bins(2), Bins(5), Bins(20), Bins(101), Bins(20, low=0.0, high=0.5), Bins(7, -2, 1)]
)
def test_agrees_with_the_dense_histogram(bins: Bins, ties: bool) -> None:
    """Also where scores leave the range of the bins."""
    scores, labels = _random(6, 40, reach=1.2)
    scores.requires_grad_()
    found = quantised_precision(scores, labels, bins=bins, ties=ties).values
    expected = dense_precision(
        scores, labels, bins=bins.count, low=bins.low, high=bins.high, ties=ties
    )
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(
        _gradient(found, scores), _gradient(expected, scores), rtol=1e-8, atol=1e-10
    )


@pytest.mark.parametrize("ties", [False, True])
def test_gradient_is_that_of_finite_differences(ties: bool) -> None:
    scores, labels = _random(3, 12)

    def values(scores: Tensor) -> Tensor:
        return quantised_precision(scores, labels, bins=Bins(6), ties=ties).values

    assert torch.autograd.gradcheck(values, scores.requires_grad_(), eps=1e-7, atol=1e-5)


def test_half_precision_is_summed_in_float32() -> None:
    """3,000 scores: a bfloat16 sum would stop growing at 256."""
    scores, labels = _random(4, 3000)
    half = scores.bfloat16().requires_grad_()
    single = half.detach().float().requires_grad_()
    found = quantised_precision(half, labels, bins=Bins()).values
    expected = quantised_precision(single, labels, bins=Bins()).values
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    gradient = _gradient(found, half)
    assert gradient.dtype == torch.bfloat16
    torch.testing.assert_close(gradient.float(), _gradient(expected, single), rtol=0.02, atol=0)
    precise = quantised_precision(scores, labels, bins=Bins()).values
    torch.testing.assert_close(found.double(), precise, rtol=0, atol=2e-3)


@pytest.mark.parametrize("memory_bytes", [1, 3000, 10_000])
def test_chunks_change_nothing(memory_bytes: int) -> None:
    scores, labels = _random(9, 50)
    scores.requires_grad_()
    whole = quantised_precision(scores, labels, bins=Bins())
    chunks = quantised_precision(scores, labels, bins=Bins(), memory_bytes=memory_bytes)
    assert torch.equal(chunks.values, whole.values)
    assert torch.equal(_gradient(chunks.values, scores), _gradient(whole.values, scores))


def test_scores_stay_as_they_were() -> None:
    scores, labels = _random(3, 10)
    before = scores.clone()
    quantised_precision(scores, labels, bins=Bins())
    assert torch.equal(scores, before)


# --- bins -----------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.booleans()), min_size=1, max_size=30),
    st.integers(2, 60),
)
def test_every_score_has_a_mass_of_one(scores: list[tuple[float, bool]], count: int) -> None:
    values = torch.tensor([[score for score, _ in scores]], dtype=torch.float64)
    positive = torch.tensor([[is_positive for _, is_positive in scores]])
    masses = place(values, positive, Bins(count)).masses()
    assert masses.shape == (1, 2, count)
    assert masses.min() >= 0
    found = masses.sum(dim=2)[0].tolist()
    assert found == pytest.approx([int((~positive).sum()), int(positive.sum())])


def test_a_bin_that_nothing_falls_into_is_empty() -> None:
    """A thousand scores a hair above the centre 0, whose part of the bin above rounds away when
    masses are differences of sums."""
    masses = place(torch.full((1, 4000), 1e-7), torch.zeros(1, 4000).bool(), Bins(3)).masses()
    assert masses[0, 0].tolist() == pytest.approx([4e-4, 4000, 0], rel=0.2)
    assert masses.min() >= 0


@pytest.mark.parametrize("ties", [False, True])
def test_scores_beyond_the_ends_count_once_and_feel_nothing(ties: bool) -> None:
    labels = torch.tensor([[1, 0, 1, 0, 1, 0]])
    beyond = torch.tensor([[1 + 1e-6, 1.5, 0.35, 0.3, -1 - 1e-6, -4]], dtype=torch.float64)
    beyond.requires_grad_()
    at_ends = torch.tensor([[1, 1, 0.35, 0.3, -1, -1]], dtype=torch.float64)
    found = quantised_precision(beyond, labels, bins=Bins(), ties=ties).values
    expected = quantised_precision(at_ends, labels, bins=Bins(), ties=ties).values
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
    felt = _gradient(found, beyond)[0] != 0
    assert felt.tolist() == [False, False, True, True, False, False]


def test_bins_of_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="at least 2 bins"):
        Bins(1)
    with pytest.raises(SettingsError, match="no bins fit"):
        Bins(20, low=1.0, high=1.0)


# --- queries --------------------------------------------------------------------------------


def test_a_query_without_a_positive_is_skipped() -> None:
    scores, labels = _random(4, 20)
    labels[1] = False
    scores.requires_grad_()
    found = quantised_precision(scores, labels, bins=Bins())
    assert found.counted.tolist() == [True, False, True, True]
    others = quantised_precision(scores[[0, 2, 3]], labels[[0, 2, 3]], bins=Bins())
    assert found.mean().item() == pytest.approx(others.values.mean().item())
    gradient = torch.autograd.grad(found.mean(), scores)[0]
    assert torch.isfinite(gradient).all()
    assert not gradient[1].any()
    assert gradient[[0, 2, 3]].any(dim=1).all()


def test_no_query_with_a_positive_has_no_mean() -> None:
    scores, labels = _random(2, 5)
    found = quantised_precision(scores, torch.zeros_like(labels), bins=Bins())
    assert found.values.tolist() == [0, 0]
    with pytest.raises(TrainingError, match="no query has a positive"):
        found.mean()


def test_nothing_but_positives_is_perfect() -> None:
    scores, _ = _random(2, 30)
    found = quantised_precision(scores, torch.ones_like(scores), bins=Bins())
    assert found.values.tolist() == pytest.approx([1, 1])


@given(st.permutations(range(12)), st.booleans())
def test_the_order_of_the_database_does_not_matter(order: list[int], ties: bool) -> None:
    scores, labels = _random(2, 12)
    found = quantised_precision(scores[:, order], labels[:, order], bins=Bins(), ties=ties).values
    expected = quantised_precision(scores, labels, bins=Bins(), ties=ties).values
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@given(
    st.lists(st.integers(-99, 99), unique=True, min_size=1, max_size=25),
    st.integers(1, 2**25 - 1),
)
def test_many_bins_stay_at_or_below_exact_precision(hundredths: list[int], flags: int) -> None:
    """Scores that lie ten bins apart: only its own halves share a positive's bins."""
    scores = torch.tensor([hundredths], dtype=torch.float64) / 100
    labels = torch.tensor([[flags >> i & 1 for i in range(len(hundredths))]])
    exact = average_precision_of_scores(scores[0].numpy(), labels[0].bool().numpy())
    found = quantised_precision(scores, labels, bins=Bins(2002))
    assert found.counted.item() is (exact is not None)
    if exact is not None:
        assert 0 < found.values.item() <= exact + 1e-12


def test_a_score_that_is_no_number_is_refused() -> None:
    for broken in (math.nan, math.inf):
        with pytest.raises(TrainingError, match="diverged"):
            quantised_precision(torch.tensor([[0.1, broken]]), torch.ones(1, 2), bins=Bins())


def test_labels_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="differ"):
        quantised_precision(torch.zeros(2, 3), torch.zeros(2, 2), bins=Bins())
