from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.errors import LibraryError
from engine.features.codes import CodeArray
from engine.store.vectors import VectorLayout, VectorStore, stored_layout
from engine.types import FloatArray

_DIM = 5
_WIDTH = 7


def _block(seed: int, photos: int, regions: int) -> tuple[FloatArray, CodeArray, FloatArray]:
    chance = np.random.default_rng(seed)
    return (
        # Eighths, which float16 holds as they are.
        (chance.integers(0, 9, (photos, _DIM)) / 8).astype(np.float32),
        chance.integers(0, 256, (regions, _WIDTH), np.uint8),
        chance.random((regions, 4), np.float32),
    )


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    descriptors, regions, boxes = _block(1, 3, 7)
    with VectorStore.open(tmp_path / "v", dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        assert store.append(descriptors, regions, boxes) == (0, 0)
        assert store.append(*_block(2, 1, 0)) == (3, 7)
        store.flush()
    assert stored_layout(tmp_path / "v") == VectorLayout(_DIM, _WIDTH)
    with VectorStore.open(tmp_path / "v", dim=_DIM, region_bytes=_WIDTH, writable=False) as store:
        assert store.whole_rows() == (4, 7)
        np.testing.assert_array_equal(store.descriptors(3), descriptors)
        np.testing.assert_array_equal(store.regions(7), regions)
        np.testing.assert_array_equal(store.boxes(7), boxes)
        assert store.descriptors(0).shape == (0, _DIM)


def test_views_are_read_only_and_outlive_appends_and_the_store(tmp_path: Path) -> None:
    descriptors, regions, boxes = _block(1, 3, 7)
    with VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        store.append(descriptors, regions, boxes)
        view = store.descriptors(3)
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0
        for seed in range(200):
            store.append(*_block(seed, 50, 100))
    np.testing.assert_array_equal(view, descriptors)


def test_a_half_written_row_does_not_count(tmp_path: Path) -> None:
    with VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        store.append(*_block(1, 2, 3))
    with (tmp_path / "descriptors.f16").open("ab") as file:
        file.write(b"\x00" * (_DIM * 2 - 1))
    with VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        assert store.whole_rows() == (2, 3)
        assert store.append(*_block(2, 1, 0)) == (2, 3)
        np.testing.assert_array_equal(store.descriptors(3)[2], _block(2, 1, 0)[0][0])


def test_vectors_of_another_length_are_refused(tmp_path: Path) -> None:
    VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True).close()
    with pytest.raises(LibraryError, match="laid out"):
        VectorStore.open(tmp_path, dim=_DIM + 1, region_bytes=_WIDTH, writable=True)
    with pytest.raises(LibraryError, match="laid out"):
        VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH + 1, writable=True)
    (tmp_path / "layout.json").write_text("{")
    with pytest.raises(LibraryError, match="damaged"):
        VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True)


def test_asking_for_more_than_there_is_names_the_fault(tmp_path: Path) -> None:
    with VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        store.append(*_block(1, 2, 3))
        for ask in (lambda: store.descriptors(3), lambda: store.regions(4), lambda: store.boxes(4)):
            with pytest.raises(LibraryError, match="shorter"):
                ask()
        with pytest.raises(LibraryError, match="shorter"):
            store.truncate(3, 3)


def test_blocks_that_do_not_fit_together_are_refused_whole(tmp_path: Path) -> None:
    descriptors, regions, boxes = _block(1, 2, 3)
    with VectorStore.open(tmp_path, dim=_DIM, region_bytes=_WIDTH, writable=True) as store:
        for bad in ((descriptors[:, 1:], regions, boxes), (descriptors, regions, boxes[1:])):
            with pytest.raises(ValueError, match=r"long|boxes"):
                store.append(*bad)
        assert store.whole_rows() == (0, 0)


def test_a_reader_makes_no_files(tmp_path: Path) -> None:
    with VectorStore.open(
        tmp_path / "none", dim=_DIM, region_bytes=_WIDTH, writable=False
    ) as store:
        assert store.descriptors(0).shape == (0, _DIM)
        with pytest.raises(ValueError, match="shorter"):
            store.append(*_block(1, 1, 1))
    assert not (tmp_path / "none").exists()
    assert stored_layout(tmp_path / "none") is None


class AnyHistory(RuleBasedStateMachine):
    """Any order of appends, truncations and reopenings reads like a list of rows."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._store = self._open()
        self._descriptors = np.empty((0, _DIM), np.float32)
        self._boxes = np.empty((0, 4), np.float32)

    def _open(self) -> VectorStore:
        return VectorStore.open(
            Path(self._folder.name), dim=_DIM, region_bytes=_WIDTH, writable=True
        )

    @rule(seed=st.integers(0, 9), photos=st.integers(0, 3), regions=st.integers(0, 5))
    def append(self, seed: int, photos: int, regions: int) -> None:
        block = _block(seed, photos, regions)
        assert self._store.append(*block) == (len(self._descriptors), len(self._boxes))
        self._descriptors = np.concatenate([self._descriptors, block[0]])
        self._boxes = np.concatenate([self._boxes, block[2]])

    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        rows, region_rows = int(share * len(self._descriptors)), int(share * len(self._boxes))
        self._store.truncate(rows, region_rows)
        self._descriptors = self._descriptors[:rows]
        self._boxes = self._boxes[:region_rows]

    @rule()
    def reopen(self) -> None:
        self._store.flush()
        self._store.close()
        self._store = self._open()

    @invariant()
    def reads_the_same(self) -> None:
        rows, region_rows = len(self._descriptors), len(self._boxes)
        np.testing.assert_array_equal(self._store.descriptors(rows), self._descriptors)
        np.testing.assert_array_equal(self._store.boxes(region_rows), self._boxes)
        assert self._store.regions(region_rows).shape == (region_rows, _WIDTH)

    def teardown(self) -> None:
        self._store.close()
        self._folder.cleanup()


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
