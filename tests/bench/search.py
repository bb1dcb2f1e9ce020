"""How long a search takes beside its network pass: `python -m tests.bench.search [N]`.

A library of N photos (10,000), made of the features of real photos of REFOCAL_PHOTOS with noise,
and the boxes of the cutouts as queries. Each query goes through the real search job, which lists
50 hits with their footprints; what follows the last look of the network is set against the
looks alone, in the same run, so that a busy machine slows both. The last line states the target;
the exit status is 1 if it was missed.
"""

import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.config import Expansion, FeatureSettings, SearchSettings
from engine.evaluation.groundtruth import TruthQuery
from engine.evaluation.reading import read
from engine.features.head import Head
from engine.jobs import Ticket
from engine.network.manifest import NetworkManifest
from engine.network.network import Network
from engine.requests import SearchRequest
from engine.runtime import Runtime
from engine.searching.asked import AskedQueries
from engine.searching.job import search
from engine.searching.parts import SearchParts
from engine.types import Box, FloatArray, Picture, PixelArray, SearchTimings
from tests.bench.made_library import MadeLibrary, see
from tests.fakes.inline_pool import InlinePool

PHOTOS = 10_000
HITS = 50
WARMING = 5
WHOLE_EVERY = 5
TARGET = 0.5
EXPANSIONS = (Expansion.NONE, Expansion.MATCHED, Expansion.AVERAGE)
JUDGED = (Expansion.MATCHED, Expansion.AVERAGE)
FEATURES = FeatureSettings()


class _Watched:
    """The network, and when it looked: ``looked_s`` in all, and ``until`` when last."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self.looked_s = 0.0
        self.until = 0.0

    @property
    def manifest(self) -> NetworkManifest:
        return self._network.manifest

    def look(self, image: PixelArray, levels: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
        began = time.perf_counter()
        seen = self._network.look(image, levels)
        self.until = time.perf_counter()
        self.looked_s += self.until - began
        return seen

    @property
    def centre(self) -> FloatArray | None:
        return self._network.centre

    @property
    def head(self) -> Head | None:
        return self._network.head

    def feature_map(self, image: PixelArray) -> FloatArray:
        return self._network.feature_map(image)


@dataclass
class _Spent:
    """Milliseconds of each query: the network's pass, all that followed, and its stages."""

    passes: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)
    stages: list[SearchTimings] = field(default_factory=list)

    def ratio(self) -> float:
        """p95 of what followed in terms of a usual pass."""
        return float(np.percentile(self.after, 95)) / statistics.median(self.passes)

    def line(self) -> str:
        after = [float(np.percentile(self.after, share)) for share in (50, 95)]
        stages = [
            statistics.median(getattr(one, stage) for one in self.stages)
            for stage in ("shortlist", "rerank", "expand")
        ]
        shown = (statistics.median(self.passes), *after, *stages, after[0] - sum(stages))
        return " ".join(f"{number:9.1f}" for number in shown)


class _Asking:
    """Asks the queries of the cutouts, by box or by the whole photo."""

    def __init__(self, library: MadeLibrary, network: Network, folder: Path) -> None:
        self._network = _Watched(network)
        self._folder = folder
        self._parts = SearchParts(
            database=library.database,
            features=FEATURES,
            network=lambda: self._network,
            pool=InlinePool(),
            snapshot=library.collection.snapshot,
            asked=AskedQueries(),
        )

    def ask(self, query: TruthQuery, box: Box | None, expand: Expansion, spent: _Spent) -> None:
        picture = Picture(self._folder / query.photo)
        settings = SearchSettings(expand=expand)
        self._network.looked_s = 0.0
        answer = search(
            SearchRequest(picture, box, top=HITS, settings=settings), Ticket(), parts=self._parts
        )
        spent.after.append((time.perf_counter() - self._network.until) * 1000)
        spent.passes.append(self._network.looked_s * 1000)
        spent.stages.append(answer.timings_ms)
        if len(answer.hits) != HITS or all(hit.focus is None for hit in answer.hits):
            raise AssertionError("a search did not list its hits with footprints")


def _measure(asking: _Asking, queries: tuple[TruthQuery, ...]) -> dict[tuple[str, str], _Spent]:
    """The kinds of search take turns, query by query; whole photos not each time."""
    spent: dict[tuple[str, str], _Spent] = {}
    for number, query in enumerate((*queries[:WARMING], *queries)):
        kinds = [("box", query.box)] + [("whole photo", None)] * (number % WHOLE_EVERY == 0)
        for kind, box in kinds:
            for expand in EXPANSIONS:
                fresh = _Spent() if number < WARMING else spent.setdefault((kind, expand), _Spent())
                asking.ask(query, box, expand, fresh)
    return spent


def main(count: int) -> int:
    """Print the table; 0 if the target was met."""
    folder = Path(os.environ["REFOCAL_PHOTOS"]) / "cutouts"
    truth = read(folder)
    with Runtime() as runtime, tempfile.TemporaryDirectory(prefix="refocal-bench-") as ground:
        network = runtime.network(FEATURES)
        files = [folder / name for query in truth.queries for name in query.positives]
        seen = see(network, files, size_px=FEATURES.size_px)
        library = MadeLibrary(Path(ground), seen, count, features=FEATURES)
        snapshot = library.collection.snapshot(Ticket())
        print(f"{count:,} photos of {len(seen)} real ones, {len(snapshot.codes):,} regions")
        print(snapshot.index_reason)
        spent = _measure(_Asking(library, network, folder), truth.queries)
        library.close()
    heads = ("pass", "after p50", "after p95", "shortlist", "rerank", "expand", "the rest")
    print(f"{'query':12s} {'expand':8s} " + " ".join(f"{head:>9s}" for head in heads) + "  ms")
    for (kind, expand), one in spent.items():
        print(f"{kind:12s} {expand:8s} {one.line()}  ratio {one.ratio():.2f}")
    ratio = max(spent["box", expand].ratio() for expand in JUDGED)
    print(f"p95 after the pass / median pass, boxes: {ratio:.2f}, target < {TARGET}")
    return 0 if ratio < TARGET else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else PHOTOS))
