"""PCA whitening: what it does to descriptors, how it is fitted, and its file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file

from engine.errors import NetworkError, SettingsError
from engine.features import whitening as module
from engine.features.whitening import Whitening, WhiteningFit, fit, load, save

Float64 = NDArray[np.float64]


def _rows(seed: int = 0, *, count: int = 400, dim: int = 6) -> Float64:
    """Correlated, with a mean far from 0 and spreads from 1 to 1/dim."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    rows: Float64 = 5.0 + (rng.standard_normal((count, dim)) / np.arange(1, dim + 1)) @ turn
    return rows


# --- what it does ---------------------------------------------------------------------------


def test_by_hand() -> None:
    """Four points on a cross: variances 4·2/3 and 1·2/3 about (1, 1)."""
    cross = np.array([[3.0, 1], [-1, 1], [1, 2], [1, 0]])
    found = fit(cross, name="cross", exponent=0.5)
    assert found.mean == pytest.approx([1, 1])
    assert found.variances == pytest.approx([8 / 3, 2 / 3])
    assert found.axes == pytest.approx(np.eye(2), abs=1e-6)
    assert found.project([3.0, 2.0]) == pytest.approx([2 / (8 / 3) ** 0.5, 1 / (2 / 3) ** 0.5])
    assert found.apply([3.0, 2.0]) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert (found.name, found.count) == ("cross", 4)


def test_ordinary_whitening_gives_unit_covariance() -> None:
    rows = _rows()
    projected = fit(rows, name="rows", exponent=0.5, floor=0.0).project(rows)
    assert np.cov(projected.T) == pytest.approx(np.eye(6), abs=1e-4)
    assert projected.mean(axis=0) == pytest.approx(np.zeros(6), abs=1e-4)


def test_other_exponents_go_part_of_the_way() -> None:
    rows = _rows()
    variances = fit(rows, name="rows").variances
    for exponent in (0.0, 0.25, 0.4):
        projected = fit(rows, name="rows", exponent=exponent).project(rows)
        spread = np.diag(variances ** (1 - 2 * exponent))
        assert np.cov(projected.T) == pytest.approx(spread, abs=1e-4)


def test_a_rotation_keeps_distances() -> None:
    rows = _rows()
    turned = fit(rows, name="rows", exponent=0.0).project(rows)
    apart = np.linalg.norm(rows[:50, None] - rows[None, :50], axis=2)
    assert np.linalg.norm(turned[:50, None] - turned[None, :50], axis=2) == pytest.approx(
        apart, abs=1e-4
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.25, 0.5]), st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_features_are_units_and_back_is_its_transpose(seed: int, exponent: float, dim: int) -> None:
    rng = np.random.default_rng(seed)
    found = fit(_rows(), name="rows", exponent=exponent, dim=dim)
    features = 5 + rng.standard_normal((3, 6))
    assert np.linalg.norm(found.apply(features), axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    direction = rng.standard_normal(dim)
    through = (features - found.mean) @ found.back(direction)
    assert found.project(features) @ direction == pytest.approx(through, abs=1e-5)


def test_an_empty_region_stays_empty() -> None:
    found = fit(_rows(), name="rows")
    assert not found.apply(np.zeros((2, 6))).any()
    assert not found.apply(np.zeros(6)).any()


def test_centring_alone() -> None:
    found = Whitening.centring([1.0, 0.0], name="mean", count=3)
    assert found.apply([[1.0, 2.0], [4.0, 0.0], [0.0, 0.0]]).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert (found.dim_in, found.dim_out) == (2, 2)
    assert found.back([0.5, 2.0]).tolist() == [0.5, 2.0]
    with pytest.raises(SettingsError, match="centres only"):
        found.changed(exponent=0.5)


def test_changing_exponent_and_length_is_as_good_as_fitting_anew() -> None:
    rows = _rows()
    changed = fit(rows, name="rows").changed(exponent=0.25, dim=3)
    fresh = fit(rows, name="rows", exponent=0.25, dim=3)
    assert changed.apply(rows) == pytest.approx(fresh.apply(rows), abs=1e-6)
    assert (changed.dim_in, changed.dim_out) == (6, 3)


def test_tiny_variances_do_not_blow_up() -> None:
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((500, 3)) * [1.0, 0.1, 1e-3]
    found = fit(rows, name="rows", exponent=0.5, floor=1e-4)
    spread = found.project(rows).std(axis=0)
    assert spread[:2] == pytest.approx([1, 1], abs=0.01)
    # The third counts as 1e-4 of the first: 1e-3 / √1e-4 = 0.1.
    assert spread[2] == pytest.approx(0.1, rel=0.1)
    assert found.variances[2] == pytest.approx(1e-6, rel=0.2)


# --- fitting --------------------------------------------------------------------------------


@pytest.mark.parametrize("floor", [-0.1, 1.5])
def test_a_floor_out_of_range_is_refused(floor: float) -> None:
    with pytest.raises(SettingsError, match="floor"):
        fit(_rows(), name="rows", floor=floor)


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_batches_of_any_size_give_what_all_at_once_gives(sizes: list[int], seed: int) -> None:
    rows = _rows(seed, count=60)
    learning = WhiteningFit(6)
    for batch in np.split(rows, np.minimum(np.cumsum(sizes), 60)):
        learning.add(batch)
    found, whole = learning.finish(name="rows"), fit(rows, name="rows")
    assert found.count == whole.count == 60
    assert found.variances == pytest.approx(whole.variances)
    assert found.apply(rows) == pytest.approx(whole.apply(rows), abs=1e-4)


def test_fewer_descriptors_than_values() -> None:
    rows = np.random.default_rng(3).standard_normal((10, 50)) + 2
    found = fit(rows, name="few", floor=0.0)
    assert found.dim_out == 9
    assert np.cov(found.project(rows).T) == pytest.approx(np.eye(9), abs=1e-4)
    # As the singular values of the centred descriptors say.
    singular = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:9]
    assert found.variances == pytest.approx(singular**2 / 9)


def test_axes_point_where_they_are_largest() -> None:
    axes = fit(_rows(5, dim=12), name="rows").axes
    assert axes is not None
    assert (axes.max(axis=0) == np.abs(axes).max(axis=0)).all()


def test_axes_without_variance_are_left_out() -> None:
    rows = _rows(dim=3)
    assert fit(np.hstack([rows, rows, np.ones((400, 1))]), name="twice").dim_out == 3


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros((0, 3)), "at least 2"),
        (np.ones((1, 3)), "at least 2"),
        (np.full((9, 3), 0.1), "differ"),
        (np.array([[0.0, np.nan, 0.0]]), "no numbers"),
        (np.zeros((2, 3, 4)), "shape"),
    ],
)
def test_what_teaches_nothing_is_refused(rows: Float64, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        fit(rows, name="nothing")


def test_another_length_is_refused() -> None:
    with pytest.raises(SettingsError, match="shape"):
        WhiteningFit(3).add(np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("exponent", "dim", "words"), [(-0.1, 2, "exponent"), (0.5, 7, "7 axes"), (0.5, 0, "0 axes")]
)
def test_settings_out_of_range_are_refused(exponent: float, dim: int, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        fit(_rows(), name="rows", exponent=exponent, dim=dim)


# --- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("centres_only", [False, True])
def test_a_file_gives_back_what_was_saved(tmp_path: Path, centres_only: bool) -> None:
    rows = _rows()
    saved = fit(rows, name="Größe 768", exponent=0.25, dim=4, floor=0.3)
    if centres_only:
        saved = Whitening.centring(rows.mean(axis=0), name="Größe 768", count=400)
    save(saved, tmp_path / "w.safetensors")
    found = load(tmp_path / "w.safetensors")
    assert np.array_equal(found.apply(rows), saved.apply(rows))
    assert (found.name, found.count, found.exponent) == ("Größe 768", 400, saved.exponent)
    assert np.array_equal(found.variances, saved.variances)
    assert found.floor == saved.floor


def test_a_missing_or_damaged_file_is_a_network_error(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    with pytest.raises(NetworkError, match="cannot be read"):
        load(path)
    save(fit(_rows(), name="rows"), path)
    whole = path.read_bytes()
    for damaged in (b"", b"no tensors", whole[:-3], whole[:40]):
        path.write_bytes(damaged)
        with pytest.raises(NetworkError, match="cannot be read"):
            load(path)


def test_a_folder_that_is_not_there_is_a_network_error(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot be written"):
        save(fit(_rows(), name="rows"), tmp_path / "none" / "w.safetensors")


@pytest.mark.parametrize(
    "change",
    [
        {"mean": np.zeros(5, np.float32)},
        {"mean": np.zeros((6, 1), np.float32)},
        {"mean": np.full(6, np.nan, np.float32)},
        {"axes": np.zeros((6, 2), np.float32)},
        {"variances": np.array([1.0, 0.5, 0.0])},
        {"about": '{"exponent": -1, "floor": 0, "name": "rows", "count": 9}'},
        {"about": '{"name": "rows", "count": 9}'},
        {"about": '{"exponent": 0, "floor": 2, "name": "rows", "count": 9}'},
        {"about": "[]"},
        {"about": "{"},
        {"format": "another"},
    ],
    ids=lambda change: next(iter(change.items())).__repr__()[:30],
)
def test_tensors_that_do_not_fit_are_a_network_error(
    tmp_path: Path, change: dict[str, str | NDArray[np.generic]]
) -> None:
    good = fit(_rows(), name="rows", dim=3)
    assert good.axes is not None
    tensors: dict[str, NDArray[np.generic]] = {
        "mean": good.mean,
        "axes": good.axes,
        "variances": good.variances,
    }
    metadata = {
        "format": module._FORMAT,
        "about": '{"exponent": 0, "floor": 0, "name": "r", "count": 9}',
    }
    save_file(tensors, tmp_path / "good", metadata=metadata)
    load(tmp_path / "good")
    for key, value in change.items():
        if isinstance(value, str):
            metadata[key] = value
        else:
            tensors[key] = value
    save_file(tensors, tmp_path / "bad", metadata=metadata)
    with pytest.raises(NetworkError, match="holds no whitening"):
        load(tmp_path / "bad")
