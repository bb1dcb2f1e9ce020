"""Measures retrieval on a folder of photos with a ground truth, in a library for that alone."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from engine.catalogue.walk import FoundFile, walk
from engine.config import FeatureSettings, NetworkChoice, SearchSettings
from engine.errors import FolderError, GroundTruthError, PhotoError
from engine.evaluation.groundtruth import GroundTruth, Protocol, TruthQuery
from engine.evaluation.job import Subject
from engine.evaluation.job import evaluate as judge
from engine.evaluation.reading import read
from engine.features.scheme import pooling_of
from engine.jobs import Ticket
from engine.network.registry import DEFAULT
from engine.requests import (
    EvaluateReport,
    EvaluateRequest,
    FocusRequest,
    IndexRequest,
    SearchAnswer,
    SearchRequest,
)
from engine.service import Engine
from engine.store.paths import evaluation_cache
from engine.types import FocusMap, Picture


def evaluate(request: EvaluateRequest, ticket: Ticket) -> EvaluateReport:
    """Index the folder, and the distractors with it, into the cache (only what is new) and ask
    every query of the folder's ground truth.

    A photo among the distractors that is a copy of a listed one, or of one that asks, is that
    photo and no distractor.

    Raises:
        GroundTruthError: there is no ground truth, or it says nothing to measure.
        FolderError: a folder of distractors is missing or holds no photo.
        RefocalError: indexing failed.
    """
    truth = read(request.folder)
    demand_photos(truth)
    features = request.features or FeatureSettings()
    search = request.settings or SearchSettings()
    distracting = photos_in(request.distractors)
    network = request.network or NetworkChoice(DEFAULT)  # whatever the last run measured
    library = _library_of(request.folder, request.distractors)
    with Engine.open(library, network=network) as engine:
        engine.index(IndexRequest((request.folder, *request.distractors), features), ticket)
        run = _Run(engine, truth, search, features, ticket, exact=request.exact_focus)
        subject = Subject(run.identify, run.rank, run.focus, run.distractors(distracting))
        return judge(truth, subject, ticket, settings=run.settings())


def demand_photos(truth: GroundTruth) -> None:
    """A listed photo that is not there would count as never found, and nobody would know."""
    wanted = dict.fromkeys((*truth.photos, *(query.photo for query in truth.queries)))
    missing = [name for name in wanted if not (truth.folder / name).is_file()]
    if missing:
        count = f"{len(missing)} of the {len(wanted)} photos"
        raise GroundTruthError(f"{truth.folder} lacks {count} of its ground truth: {missing[0]!r}")


def photos_in(folders: Sequence[Path]) -> list[Path]:
    """The photo files in these folders, as indexing will find them."""
    found = []
    for folder in folders:
        try:
            files = list(walk(folder, below=b"", avoid=frozenset()))
        except OSError as error:
            reason = f"{folder} cannot be read: {(error.strerror or str(error)).lower()}"
            raise FolderError(reason, path=folder) from error
        here = [folder / os.fsdecode(one.relpath) for one in files if isinstance(one, FoundFile)]
        if not here:
            raise FolderError(f"no photo was found in {folder}", path=folder)
        found += here
    return found


def _library_of(folder: Path, distractors: Sequence[Path]) -> Path:
    """One for each folder and set of distractors, in whatever order they are named."""
    others = sorted({os.fsencode(one.resolve()) for one in distractors})
    places = b"\0".join((os.fsencode(folder.resolve()), *others))
    return evaluation_cache() / hashlib.blake2b(places, digest_size=8).hexdigest()


class _Run:
    """The answers of one engine to the queries of one ground truth."""

    def __init__(
        self,
        engine: Engine,
        truth: GroundTruth,
        search: SearchSettings,
        features: FeatureSettings,
        ticket: Ticket,
        *,
        exact: bool,
    ) -> None:
        self._engine = engine
        self._truth = truth
        self._search = search
        self._features = features
        self._ticket = ticket
        self._exact = exact
        self._names: dict[str, int | None] = {}

    def identify(self, name: str) -> int | None:
        if name not in self._names:
            self._names[name] = self._engine.photo_id(self._truth.folder / name)
        return self._names[name]

    def distractors(self, files: Sequence[Path]) -> frozenset[int]:
        """The photos of these files that the ground truth names nowhere."""
        named = (*self._truth.photos, *(query.photo for query in self._truth.queries))
        ids = {self._engine.photo_id(path) for path in files}
        return frozenset(id_ for id_ in ids - {self.identify(n) for n in named} if id_ is not None)

    def rank(self, query: TruthQuery) -> SearchAnswer:
        request = SearchRequest(
            Picture(self._truth.folder / query.photo),
            query.box,
            top=None,
            settings=self._search,
            features=self._features,
            with_own=self._truth.keeps_own,
        )
        return self._engine.search(request, self._ticket)

    def focus(self, answer: SearchAnswer, photo_id: int) -> FocusMap | None:
        if answer.method == "global" and not self._exact:
            return None
        try:
            request = FocusRequest(answer.token, photo_id, exact=self._exact)
            return self._engine.focus(request, self._ticket).focus
        except PhotoError:
            return None

    def settings(self) -> dict[str, object]:
        """Everything that the figures depend on."""
        search, features = self._search, self._features
        status = self._engine.status(features)
        sums = self._truth.protocol is Protocol.LEAVE_QUERY_OUT
        return {
            "network": status.network,
            "device": status.device,
            "photos": status.photos,
            "protocol": str(self._truth.protocol),
            "average_precision": "sum" if sums else "trapezoids",
            "size_px": features.size_px,
            "method": str(search.method),
            "solver": str(search.solver),
            "shortlist": search.shortlist,
            "query_scales": search.query_scales or "standard",
            "expand": str(search.expand),
            "regions": str(features.regions),
            "levels": features.levels,
            "aggregation": str(features.aggregation),
            "photo_scales": features.photo_scales,
            "pooling": f"{pooling_of(features)} on both sides",
            "codec": str(features.codec),
            "focus_map": "exact" if self._exact else "footprint",
            "index": status.index,
        }
