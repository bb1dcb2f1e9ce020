"""What was computed -> vector files -> one transaction that makes it count."""

import contextlib
import time
from dataclasses import dataclass

import numpy as np

from engine.catalogue.work import Work
from engine.errors import LibraryError
from engine.indexing.parts import Features, IndexParts
from engine.media.decode import DecodedPhoto
from engine.media.facts import MediaFacts

_NETWORK = "(SELECT id FROM networks WHERE key = ?)"


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """A photo with what the network saw, not yet kept."""

    work: Work
    facts: MediaFacts
    features: Features


class Commit:
    """Gathers photos and failures, and keeps them a handful at a time."""

    def __init__(self, parts: IndexParts) -> None:
        self._parts = parts
        self._photos: list[Indexed] = []
        self._failures: list[tuple[Work, str]] = []
        self._indexed = 0
        self._published = time.monotonic()
        self._unpublished = False

    def __len__(self) -> int:
        return len(self._photos) + len(self._failures)

    @property
    def indexed(self) -> int:
        """Photos that were kept."""
        return self._indexed

    def add(self, work: Work, photo: DecodedPhoto, features: Features) -> None:
        """Take a photo, and put its thumbnail away."""
        if photo.thumbnail is not None:
            self._parts.thumbnails.put(work.identity, photo.thumbnail)
        self._photos.append(Indexed(work, photo.facts, features))

    def add_failure(self, work: Work, reason: str) -> None:
        """Take a photo that cannot be had, with the reason."""
        self._failures.append((work, reason))

    def keep(self) -> list[int]:
        """Keep what was gathered: all of it or nothing. Returns the ids of the photos.

        Raises:
            LibraryError: the disk is full or failed; the library is as it was before.
        """
        if not len(self):
            return []
        photos, self._photos = self._photos, []
        failures, self._failures = self._failures, []
        self._store(photos, failures)
        self._indexed += len(photos)
        self._unpublished |= bool(photos)
        if time.monotonic() - self._published >= self._parts.settings.publish_every_s:
            self.publish()
        return [photo.work.photo_id for photo in photos] + [work.photo_id for work, _ in failures]

    def publish(self) -> None:
        """Show searches what they have not seen."""
        if self._unpublished:
            self._unpublished = False
            self._parts.publish()
        self._published = time.monotonic()

    def _store(self, photos: list[Indexed], failures: list[tuple[Work, str]]) -> None:
        vectors = self._parts.vectors
        before = vectors.rows, vectors.region_rows
        try:
            rows = self._append(photos) if photos else []
            self._write(photos, failures, rows)
        except LibraryError:
            # Gives the room back to a full disk; what stays is overwritten in any case.
            with contextlib.suppress(LibraryError):
                vectors.truncate(*before)
            raise

    def _append(self, photos: list[Indexed]) -> list[tuple[int, int, int]]:
        """Row, first region row and number of regions of each photo, now on the disk."""
        features = [photo.features for photo in photos]
        descriptors = np.stack([seen.descriptor for seen in features])
        owners = np.repeat(np.arange(len(features)), [len(seen.regions) for seen in features])
        regions = np.concatenate([seen.regions for seen in features])
        row, region_row = self._parts.vectors.append(
            descriptors,
            self._parts.codec.encode(regions, descriptors, owners),
            np.concatenate([seen.boxes for seen in features]),
        )
        self._parts.vectors.flush()
        rows: list[tuple[int, int, int]] = []
        for seen in features:
            rows.append((row, region_row, len(seen.regions)))
            row += 1
            region_row += len(seen.regions)
        return rows

    def _write(
        self,
        photos: list[Indexed],
        failures: list[tuple[Work, str]],
        rows: list[tuple[int, int, int]],
    ) -> None:
        key = self._parts.network.key
        with self._parts.database.write() as connection:
            connection.executemany(
                f"""
                INSERT INTO vectors (photo_id, network_id, row, region_start, region_count)
                VALUES (?, {_NETWORK}, ?, ?, ?)
                """,
                [(photo.work.photo_id, key, *row) for photo, row in zip(photos, rows, strict=True)],
            )
            connection.executemany(
                """
                UPDATE photos SET width = ?, height = ?, format = ?, orientation = ?, frames = ?,
                taken = ? WHERE id = ?
                """,
                [(*_facts(photo.facts), photo.work.photo_id) for photo in photos],
            )
            connection.executemany(
                f"DELETE FROM failures WHERE photo_id = ? AND network_id = {_NETWORK}",
                [(photo.work.photo_id, key) for photo in photos],
            )
            connection.executemany(
                f"""
                INSERT INTO failures (photo_id, network_id, reason) VALUES (?, {_NETWORK}, ?)
                ON CONFLICT (photo_id, network_id) DO UPDATE SET reason = excluded.reason
                """,
                [(work.photo_id, key, reason) for work, reason in failures],
            )


def _facts(facts: MediaFacts) -> tuple[object, ...]:
    size = facts.size
    return size.w, size.h, facts.format, facts.orientation, facts.frames, facts.taken
