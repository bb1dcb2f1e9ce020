import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.catalogue.work import needs_work
from engine.config import DecodeSettings, IndexSettings
from engine.errors import DeviceError
from engine.jobs import Cancelled, Ticket
from engine.media.decode import decode
from engine.media.identity import identity
from engine.media.pool import DecodePool
from engine.store.networks import NetworkRecord, activate, active_network
from engine.store.table import load_table
from engine.types import Picture, PixelArray
from tests.fakes.fast_extractor import DIM, FastExtractor
from tests.fakes.painted import paint, paint_album
from tests.fakes.small_library import CODEC, NETWORK, SmallLibrary, small_library


def test_first_run_then_nothing_to_do(library: SmallLibrary, album: Path) -> None:
    paint_album(album, 11)
    report = library.index(album)
    assert (report.found, report.indexed, report.unchanged, report.failed) == (11, 11, 0, 0)
    assert (report.passes, library.loads) == (11, 1)
    again = library.index(album)
    assert (again.found, again.indexed, again.unchanged, again.failed) == (11, 0, 11, 0)
    assert (again.passes, library.loads, len(library.inline_pool.tasks)) == (0, 1, 11)
    assert library.problems() == ()


def test_each_row_holds_the_numbers_of_its_photo(library: SmallLibrary, album: Path) -> None:
    paint_album(album, 9)
    (album / "broken.jpg").write_bytes(b"\xff\xd8\xff broken")
    library.index(album)
    table = load_table(library.database, NETWORK.key)
    descriptors = library.vectors.descriptors(len(table))
    owners = np.repeat(np.arange(9), table.region_count)
    regions = CODEC.decode(library.vectors.regions(table.region_rows), descriptors, owners)
    boxes = library.vectors.boxes(table.region_rows)
    paths = {photo.id: photo.path for photo in library.photos()}
    assert len(table) == 9
    for row, photo_id in enumerate(table.photo_ids):
        picture = Picture(path=paths[int(photo_id)])
        pixels = decode(picture, max_side_px=64, max_pixels=10**7).pixels
        (expected,) = FastExtractor().extract([pixels])
        span = slice(table.region_start[row], table.region_start[row] + table.region_count[row])
        np.testing.assert_allclose(descriptors[row], expected.descriptor, atol=1e-3)
        np.testing.assert_allclose(regions[span], expected.regions, atol=1e-3)
        np.testing.assert_array_equal(boxes[span], expected.boxes)


def test_thumbnails_are_put_away_under_the_content(library: SmallLibrary, album: Path) -> None:
    (photo,) = paint_album(album, 1)
    library.index(album)
    jpeg = library.thumbnails.get(identity(photo))
    assert jpeg is not None
    assert jpeg.startswith(b"\xff\xd8")


def test_searches_are_shown_what_is_new_and_only_then(library: SmallLibrary, album: Path) -> None:
    library.parts = replace(
        library.parts, settings=IndexSettings(commit_every=2, hand_over=1, publish_every_s=1e9)
    )
    paint_album(album, 9)
    library.index(album)
    assert library.published == 1
    library.index(album)
    assert library.published == 1


def test_report_10_one_damaged_file_stops_nothing(library: SmallLibrary, album: Path) -> None:
    photos = paint_album(album, 8)
    for number, damage in enumerate((b"", b"text", b"\xff\xd8\xff\xe0", b"\x89PNG\r\n\x1a\n" * 9)):
        photos[number * 2].write_bytes(damage)
    report = library.index(album)
    assert (report.found, report.indexed, report.failed) == (8, 4, 4)
    assert {failure.path for failure in report.failures} == set(photos[::2])
    for failure in report.failures:
        assert failure.reason
        assert "\n" not in failure.reason


def test_report_11_failures_stay_listed_and_are_tried_again_on_demand(
    library: SmallLibrary, album: Path
) -> None:
    paint_album(album, 2)
    (album / "bad.jpg").write_text("text")
    first = library.index(album)
    again = library.index(album)
    assert again.failures == first.failures
    assert len(library.inline_pool.tasks) == 3
    retried = library.index(album, retry_failed=True)
    assert (retried.failed, retried.indexed, len(library.inline_pool.tasks)) == (1, 0, 4)
    paint(album / "bad.jpg", 5)
    assert library.index(album).failures == ()


def test_every_odd_file_is_a_photo_or_a_row_with_a_reason(
    library: SmallLibrary, photo_sets: Path
) -> None:
    settings = DecodeSettings(workers=1, timeout_s=20)
    with DecodePool(settings) as pool:
        library.parts = replace(library.parts, pool=pool)
        report = library.index(photo_sets / "odd")
        again = library.index(photo_sets / "odd")
    assert report.found > 100
    assert report.found == report.indexed + report.failed + report.copies
    assert all(failure.reason.isprintable() for failure in report.failures)
    assert (again.passes, again.unchanged, again.failures) == (0, report.indexed, report.failures)
    assert library.problems() == ()


def test_the_real_pool_on_real_photos(library: SmallLibrary, photo_sets: Path) -> None:
    folder = library.paths.root.parent / "some"
    folder.mkdir()
    for photo in sorted((photo_sets / "cutouts").glob("*.jpg"))[:20]:
        (folder / photo.name).write_bytes(photo.read_bytes())
    with DecodePool(DecodeSettings(workers=2)) as pool:
        library.parts = replace(library.parts, pool=pool)
        report = library.index(folder)
    assert (report.found, report.indexed, report.failed) == (20, 20, 0)
    assert all(photo.size is not None for photo in library.photos())
    assert library.problems() == ()


class TestCancel:
    def test_what_was_computed_is_kept(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 20)

        class Impatient(Ticket):
            def update(self, stage: str, done: int, total: int) -> None:
                if stage == "indexing" and done == 10:
                    self.cancel()
                super().update(stage, done, total)

        with pytest.raises(Cancelled):
            library.index(album, ticket=Impatient())
        kept = len(load_table(library.database, NETWORK.key))
        assert kept == 9
        assert library.problems() == ()
        report = library.index(album)
        assert (report.indexed, report.unchanged) == (11, 9)

    def test_it_is_prompt_with_the_real_pool(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 40)
        ticket = Ticket()
        ended: list[float] = []

        def run() -> None:
            with pytest.raises(Cancelled):
                library.index(album, ticket=ticket)
            ended.append(time.monotonic())

        with DecodePool(DecodeSettings(workers=1)) as pool:
            library.parts = replace(library.parts, pool=pool)
            thread = threading.Thread(target=run)
            thread.start()
            while ticket.progress.stage != "indexing" or ticket.progress.done < 3:
                time.sleep(0.001)
            asked = time.monotonic()
            ticket.cancel()
            thread.join()
        assert ended[0] - asked < 1
        assert library.problems() == ()


def test_progress_counts_to_its_total(library: SmallLibrary, album: Path) -> None:
    paint_album(album, 10)
    (album / "copy.jpg").write_bytes((album / "photo_000.jpg").read_bytes())
    (album / "bad.jpg").touch()
    seen: list[tuple[str, int, int]] = []

    class Watched(Ticket):
        def update(self, stage: str, done: int, total: int) -> None:
            seen.append((stage, done, total))
            super().update(stage, done, total)

    library.index(album, ticket=Watched())
    indexing = [(done, total) for stage, done, total in seen if stage == "indexing"]
    assert {stage for stage, _, _ in seen} == {"scanning", "indexing"}
    assert indexing[-1] == (12, 12)
    assert indexing == sorted(indexing)


class _Choosy(FastExtractor):
    """Trips over photos of one width, like a network with an odd fault."""

    def __init__(self, *, refuses: int, error: Exception) -> None:
        super().__init__()
        self._refuses = refuses
        self._error = error

    def extract(self, images: Sequence[PixelArray]) -> list:  # type: ignore[type-arg]
        if any(image.shape[1] == self._refuses for image in images):
            raise self._error
        return super().extract(images)


class TestANetworkThatTrips:
    def test_over_one_photo(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 5)
        paint(album / "odd.jpg", 9, w=20)
        library.extractor = _Choosy(refuses=20, error=ValueError("odd shape"))
        report = library.index(album)
        assert (report.indexed, report.failed, report.passes) == (5, 1, 5)
        assert "cannot take it" in report.failures[0].reason

    def test_over_every_photo_is_broken(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 5)
        library.extractor = _Choosy(refuses=48, error=ValueError("broken"))
        with pytest.raises(ValueError, match="broken"):
            library.index(album)
        library.extractor = FastExtractor()
        assert library.index(album).indexed == 5

    def test_for_good(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 5)
        paint(album / "zz.jpg", 9, w=20)
        library.extractor = _Choosy(refuses=20, error=DeviceError("no device"))
        with pytest.raises(DeviceError):
            library.index(album)
        assert len(load_table(library.database, NETWORK.key)) >= 3
        library.extractor = FastExtractor()
        assert library.index(album).failed == 0

    def test_into_no_numbers(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 3)

        class Nan(FastExtractor):
            def extract(self, images: Sequence[PixelArray]) -> list:  # type: ignore[type-arg]
                return [
                    replace(seen, descriptor=seen.descriptor * np.float32(np.nan))
                    for seen in super().extract(images)
                ]

        library.extractor = Nan()
        report = library.index(album)
        assert (report.indexed, report.failed) == (0, 3)
        assert "no numbers" in report.failures[0].reason
        library.extractor = FastExtractor()
        assert library.index(album, retry_failed=True).indexed == 3


class TestNetworks:
    """Everything is keyed by network: report 22."""

    def test_a_second_network_sees_every_photo_anew_and_neither_mixes(
        self, library: SmallLibrary, album: Path
    ) -> None:
        paint_album(album, 4)
        library.index(album)
        other = NetworkRecord(key="fast-2", manifest='{"v": 2}', settings=NETWORK.settings)
        from engine.store.vectors import VectorStore

        with VectorStore.open(
            library.paths.vectors(other.key), dim=DIM, region_bytes=CODEC.width, writable=True
        ) as beside:
            library.parts = replace(library.parts, vectors=beside)
            report = library.index(album, network=other)
        assert (report.indexed, report.unchanged) == (4, 0)
        assert active_network(library.database) == NETWORK
        activate(library.database, other.key)
        assert active_network(library.database) == other
        assert library.problems() == ()

    def test_needs_work_is_empty_after_a_full_run(self, library: SmallLibrary, album: Path) -> None:
        paint_album(album, 4)
        library.index(album)
        assert list(needs_work(library.database, NETWORK.key)) == []
        assert len(list(needs_work(library.database, "another"))) == 4


def test_vectors_that_were_lost_are_computed_again(tmp_path: Path) -> None:
    album = tmp_path / "album"
    paint_album(album, 10)
    with small_library(tmp_path / "library") as library:
        library.index(album)
        folder = library.paths.vectors(NETWORK.key)
    with (folder / "descriptors.f16").open("r+b") as file:
        file.truncate(6 * DIM * 2 + 1)
    with small_library(tmp_path / "library") as library:
        assert library.problems() != ()
        report = library.index()
        assert (report.indexed, report.unchanged) == (4, 6)
        assert "lost" in report.notes[0]
        assert library.problems() == ()
    for file_ in folder.iterdir():
        file_.unlink()
    with small_library(tmp_path / "library") as library:
        assert library.index().indexed == 10
        assert library.problems() == ()


def test_an_unchanged_run_takes_well_under_a_fiftieth(tmp_path: Path, photo_sets: Path) -> None:
    """440 photos, counted in the time that the job takes without its network: the bound that the
    real network makes easier, not harder."""
    with small_library(tmp_path / "library") as library:
        with DecodePool(DecodeSettings(workers=2)) as pool:
            library.parts = replace(library.parts, pool=pool, size_px=768)
            first = library.index(photo_sets / "cutouts")
        again = library.index(photo_sets / "cutouts")
    assert (first.indexed, first.failed, again.unchanged) == (440, 0, 440)
    assert again.passes == 0
    assert again.seconds < first.seconds / 50
