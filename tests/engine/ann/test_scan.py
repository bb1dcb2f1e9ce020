"""Shortlisting by regions, against the slow and plain way."""

import numpy as np
import pytest

from engine.ann.scan import MOST_REGIONS, RegionScan
from engine.features.codes import DIRECTIONS, CodeArray, two_bits_for
from engine.types import FloatArray

DIM = 64
CODEC = two_bits_for(DIM)


def unit(rows: np.ndarray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


class Photos:
    """Random photos with 0 to 30 regions each."""

    def __init__(self, count: int, *, seed: int = 0) -> None:
        chance = np.random.default_rng(seed)
        self.counts = chance.integers(0, 31, count).astype(np.int32)
        self.owners = np.repeat(np.arange(count), self.counts)
        self.descriptors = unit(chance.gamma(0.3, size=(count, DIM)) + 1e-3)
        self.regions = unit(chance.gamma(0.3, size=(len(self.owners), DIM)) + 1e-3)

    @property
    def codes(self) -> CodeArray:
        return CODEC.encode(self.regions, self.descriptors, self.owners)

    def scan(self, *, parts: int = 1) -> RegionScan:
        scan, codes = RegionScan(CODEC), self.codes
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        for rows in np.array_split(np.arange(len(self.counts)), parts):
            span = slice(ends[rows[0]], ends[rows[-1] + 1])
            scan = scan.with_more(self.descriptors[rows], codes[span], self.counts[rows])
        return scan

    def plain(self, query: FloatArray) -> FloatArray:
        """The same from signs that are numbers, region by region."""
        turned = CODEC.turned(query[None])[0]
        asked = np.where(turned > 0, 1.0, -1.0)
        reach = np.abs(turned).mean()

        def rough(vectors: FloatArray) -> FloatArray:
            seen = CODEC.turned(vectors)
            gain = (seen**2).sum(axis=1) / np.abs(seen).sum(axis=1) * DIM / DIRECTIONS
            return np.asarray(reach * gain * (np.where(seen > 0, 1.0, -1.0) @ asked))

        along = (self.regions * self.descriptors[self.owners]).sum(axis=1)
        rest = self.regions - along[:, None] * self.descriptors[self.owners]
        scores = rough(self.descriptors)[self.owners] * along + rough(rest)
        best = np.full(len(self.counts), -1.0)
        for photo in range(len(self.counts)):
            own = scores[self.owners == photo][-MOST_REGIONS:]
            best[photo] = own.max(initial=-1.0)
        return best


@pytest.mark.parametrize("parts", [1, 3, 40])
def test_it_is_what_the_signs_say(parts: int) -> None:
    photos = Photos(60)
    query = photos.regions[50]
    rows, cosines = photos.scan(parts=parts).search(query, 60)
    expected = photos.plain(query)
    assert len(photos.scan(parts=parts)) == 60
    assert sorted(rows.tolist()) == list(range(60))
    # The numbers of a code are float16, and levels fit a normal distribution but roughly.
    np.testing.assert_allclose(cosines, expected[rows], atol=0.1)
    assert (np.diff(cosines) <= 0).all()


def test_in_parts_it_is_the_same() -> None:
    photos = Photos(60)
    for query in photos.regions[:5]:
        whole = photos.scan().search(query, 60)
        for parts in (2, 17, 60):
            again = photos.scan(parts=parts).search(query, 60)
            np.testing.assert_array_equal(again[0], whole[0])
            np.testing.assert_array_equal(again[1], whole[1])


def test_a_thing_in_one_region_is_found_though_the_photo_as_a_whole_is_another() -> None:
    photos = Photos(200, seed=3)
    hidden = int(np.flatnonzero(photos.counts > 5)[0])
    query = unit(np.random.default_rng(9).gamma(0.2, size=DIM) + 1e-3)
    photos.descriptors[hidden] = unit(np.maximum(1e-3, photos.descriptors[hidden] - query))
    last = int(photos.counts[: hidden + 1].sum()) - 1
    photos.regions[last] = query
    by_wholes = np.argsort(-(photos.descriptors @ query)).tolist()
    assert by_wholes.index(hidden) > 150
    assert photos.scan().search(query, 1)[0].tolist() == [hidden]


def test_there_may_be_nothing() -> None:
    query = unit(np.ones(DIM))
    assert RegionScan(CODEC).search(query, 5)[0].tolist() == []
    photos = Photos(3)
    photos.counts[:] = 0
    nothing = np.zeros((0, CODEC.width), dtype=np.uint8)
    scan = RegionScan(CODEC).with_more(photos.descriptors, nothing, photos.counts)
    rows, cosines = scan.search(query, 5)
    assert rows.tolist() == [0, 1, 2]
    assert cosines.tolist() == [-1, -1, -1]
