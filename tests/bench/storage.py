"""Bytes of a photo against mAP: `python -m tests.bench.storage [--from SET]`.

The cutouts of REFOCAL_PHOTOS, seen once by the network, their regions kept in several ways and at
several levels of the pyramid; every photo is matched, so that nothing but the keeping differs. What
has to be learned (PCA, product quantisation) is learned on another set. The bytes are those of the
vector files: descriptor, regions and boxes. The last line states the targets; the exit status is 1
if one was missed.
"""

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from engine.config import Codec, FeatureSettings
from engine.evaluation.groundtruth import TruthQuery
from engine.evaluation.reading import read
from engine.features.codes import DIRECTIONS, NUMBERS_BYTES, codec_for, numbers_of, two_bits_for
from engine.features.codes import signs_of as cut_to_signs
from engine.features.grid import ospp
from engine.jobs import Ticket
from engine.network.network import Network
from engine.rank.precision import average_precision
from engine.rank.sparse import SHARPNESS, merge_many
from engine.runtime import Runtime
from engine.searching.query import decode_query, look, query_pixels, views_of
from engine.types import FloatArray, HalfArray, Picture
from tests.bench.made_library import SeenPhoto, see
from tests.fakes.inline_pool import InlinePool

LEVELS = ((2, 4), (3, 5), (1, 2, 3))
ALL_LEVELS = (1, 2, 3, 4, 5)
LEARNED_ON = 250
REFUSED = ("cutouts", "holidays", "ukbench")
COMPONENTS = 256
CENTRES = 256
BOX_BYTES = 16
LOSS_TARGET = 0.5
BYTES_TARGET = 12_000


@dataclass(frozen=True, eq=False)
class Kept:
    """Photos' regions at some levels: ``regions`` (ΣR, D), ``descriptors`` (N, D) as stored,
    ``owners`` (ΣR,), ``starts`` (N + 1,)."""

    regions: FloatArray
    descriptors: HalfArray
    owners: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, seen: Sequence[SeenPhoto], levels: tuple[int, ...], network: Network) -> "Kept":
        parts = [_at_levels(photo, levels, network) for photo in seen]
        counts = [len(part) for part in parts]
        return cls(
            np.concatenate(parts),
            np.stack([photo.features.descriptor for photo in seen]).astype(np.float16),
            np.repeat(np.arange(len(seen)), counts),
            np.concatenate([[0], np.cumsum(counts)]),
        )

    def bytes_of_photo(self, region_bytes: int) -> float:
        """In the vector files, on average."""
        photos, dim = self.descriptors.shape
        regions = len(self.regions) / int(photos)
        return 2 * int(dim) + regions * (region_bytes + BOX_BYTES)


@dataclass(frozen=True)
class Keeping:
    """A way of keeping regions: bytes of one, and what comes of (Q, D) queries against them."""

    name: str
    region_bytes: int
    cosines: Callable[[FloatArray, Kept], FloatArray]


# --- ways of keeping ------------------------------------------------------------------------


def _by_engine(kind: Codec, dim: int) -> Keeping:
    codec = codec_for(kind, dim)

    def cosines(queries: FloatArray, kept: Kept) -> FloatArray:
        codes = codec.encode(kept.regions, kept.descriptors, kept.owners)
        return codec.cosines(queries, codes, kept.descriptors, kept.owners)

    return Keeping(str(kind), codec.width, cosines)


def _by_signs(dim: int) -> Keeping:
    codec = two_bits_for(dim)

    def cosines(queries: FloatArray, kept: Kept) -> FloatArray:
        codes = codec.encode(kept.regions, kept.descriptors, kept.owners)
        packed, gain = cut_to_signs(codes)
        signs = np.unpackbits(packed, axis=1).astype(np.float32) * 2 - 1
        wholes = (queries @ kept.descriptors.T.astype(np.float32))[:, kept.owners]
        found = wholes * numbers_of(codes)[0] + gain * (codec.turned(queries) @ signs.T)
        return np.asarray(found, dtype=np.float32)

    return Keeping("signs only", NUMBERS_BYTES + DIRECTIONS // 8, cosines)


def _rebuilt(name: str, region_bytes: int, rebuild: Callable[[FloatArray], FloatArray]) -> Keeping:
    """A keeping that gives back vectors, for which the exact cosine is taken."""

    def cosines(queries: FloatArray, kept: Kept) -> FloatArray:
        rows = rebuild(kept.regions)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(queries @ (rows / lengths).T, dtype=np.float32)

    return Keeping(name, region_bytes, cosines)


def _eight_bits(rows: FloatArray) -> FloatArray:
    steps = np.abs(rows).max(axis=1, keepdims=True) / 127
    return np.asarray(np.round(rows / steps) * steps, dtype=np.float32)


def _principal(learned: FloatArray) -> Keeping:
    found = PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit(learned)

    def rebuild(rows: FloatArray) -> FloatArray:
        short = found.transform(rows).astype(np.float16)
        return np.asarray(found.inverse_transform(short.astype(np.float32)), dtype=np.float32)

    return _rebuilt(f"PCA {COMPONENTS}", 2 * COMPONENTS, rebuild)


def _product(learned: FloatArray, parts: int) -> Keeping:
    """Product quantisation (Jégou et al. 2011): a byte for each of ``parts`` equal pieces of a
    randomly turned vector, so that each piece has about as much to tell."""
    dim = learned.shape[1]
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((dim, dim)))[0].astype(np.float32)
    pieces = [
        KMeans(CENTRES, n_init=1, max_iter=8, init="random", random_state=0).fit(piece)
        for piece in np.split(learned @ turn, parts, axis=1)
    ]

    def rebuild(rows: FloatArray) -> FloatArray:
        split = np.split(np.ascontiguousarray(rows @ turn), parts, axis=1)
        near = [
            one.cluster_centers_[one.predict(np.ascontiguousarray(piece))]
            for one, piece in zip(pieces, split, strict=True)
        ]
        return np.asarray(np.concatenate(near, axis=1) @ turn.T, dtype=np.float32)

    return _rebuilt(f"product, {parts} B", parts, rebuild)


def _all_keepings(learned: FloatArray) -> list[Keeping]:
    dim = learned.shape[1]
    return [
        _by_engine(Codec.FLOAT16, dim),
        _by_engine(Codec.TWO_BITS, dim),
        _rebuilt("int8", dim + 2, _eight_bits),
        _by_signs(dim),
        _principal(learned),
        _product(learned, 64),
        _product(learned, 128),
    ]


# --- photos and queries ---------------------------------------------------------------------


def _at_levels(photo: SeenPhoto, levels: tuple[int, ...], network: Network) -> FloatArray:
    """Of the regions of `ALL_LEVELS` those that a photo has at some of them."""
    size = photo.size
    factor = min(1.0, FeatureSettings().size_px / max(size.w, size.h))
    h, w = network.manifest.cells(round(size.h * factor), round(size.w * factor))
    every = [tuple(square) for square in ospp(h, w, ALL_LEVELS).tolist()]
    if len(every) != len(photo.features.regions):
        raise AssertionError("the regions of a photo are not where they were looked for")
    wanted = {tuple(square) for square in ospp(h, w, levels).tolist()}
    taken = [number for number, square in enumerate(every) if square in wanted]
    chosen: FloatArray = photo.features.regions[taken]
    return chosen


def _asked(network: Network, folder: Path, query: TruthQuery, *, size_px: int) -> FloatArray:
    """(D,) what is looked for, as a search makes it of a box."""
    decoded = decode_query(
        Picture(folder / query.photo),
        query.box,
        size_px=size_px,
        scales=(1.0,),
        pool=InlinePool(),
        ticket=Ticket(),
    )
    views = views_of(boxed=True, scales=None)
    pictures = [query_pixels(decoded, query.box, view, size_px=size_px) for view in views]
    asked: FloatArray = look(network, pictures, boxed=True)[1][0]
    return asked


def _mean_precision(
    scores: FloatArray, queries: Sequence[TruthQuery], names: Sequence[str]
) -> float:
    """mAP of (Q, N) scores, leave-query-out."""
    found = []
    for row, query in zip(scores, queries, strict=True):
        ranking = [names[place] for place in np.argsort(-row, kind="stable")]
        relevant = np.array([name in query.positives for name in ranking if name != query.photo])
        found.append(average_precision(relevant, len(query.positives)))
    return float(np.mean(found))


def _learning_photos(folder: Path) -> list[Path]:
    names = read(folder).photos
    return [folder / name for name in names[:: max(1, len(names) // LEARNED_ON)]][:LEARNED_ON]


# --- the table ------------------------------------------------------------------------------


def main(sets: Path, learn_from: str) -> int:
    """Print the table; 0 if both targets were met."""
    truth = read(sets / "cutouts")
    features = FeatureSettings(levels=ALL_LEVELS)
    with Runtime() as runtime:
        network = runtime.network(features)
        files = [truth.folder / name for name in truth.photos]
        photos = see(network, files, size_px=features.size_px)
        others = see(network, _learning_photos(sets / learn_from), size_px=features.size_px)
        queries = np.stack(
            [_asked(network, truth.folder, q, size_px=features.size_px) for q in truth.queries]
        )
    standard = FeatureSettings()
    keepings = _all_keepings(Kept.of(others, standard.levels, network).regions)
    print(f"learned on {len(others)} photos of {learn_from}")
    print(f"{'levels':10s} {'kept as':15s} {'B/photo':>8s} {'best':>7s} {'sparse':>7s}")
    figures: dict[tuple[tuple[int, ...], str], tuple[float, float]] = {}
    for levels in LEVELS:
        kept = Kept.of(photos, levels, network)
        for keeping in keepings:
            cosines = keeping.cosines(queries, kept)
            best, sparse = (
                _mean_precision(
                    merge_many(cosines, kept.starts, sharpness=sharpness)[0],
                    truth.queries,
                    truth.photos,
                )
                for sharpness in (math.inf, SHARPNESS)
            )
            size = kept.bytes_of_photo(keeping.region_bytes)
            figures[levels, keeping.name] = (size, sparse)
            shown = ",".join(str(level) for level in levels)
            print(f"{shown:10s} {keeping.name:15s} {size:8.0f} {best:7.4f} {sparse:7.4f}")
    size, kept_map = figures[standard.levels, standard.codec]
    loss = 100 * (figures[standard.levels, Codec.FLOAT16][1] - kept_map)
    print(
        f"the standard loses {loss:.2f} mAP points, target <= {LOSS_TARGET}, "
        f"at {size:,.0f} bytes a photo, target <= {BYTES_TARGET:,}"
    )
    return 0 if loss <= LOSS_TARGET and size <= BYTES_TARGET else 1


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Bytes of a photo against mAP.")
    arguments.add_argument("--from", dest="learn_from", default="grocery", help="a photo set")
    chosen = arguments.parse_args().learn_from
    if chosen in REFUSED:
        arguments.error(f"nothing may be learned on {', '.join(REFUSED)}: they are measured")
    sys.exit(main(Path(os.environ["REFOCAL_PHOTOS"]), chosen))
