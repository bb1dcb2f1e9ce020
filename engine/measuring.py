"""Measures retrieval on a folder of photos with a gt.json, in a library kept for that alone."""

import hashlib
import os
from pathlib import Path

from engine.config import FeatureSettings, NetworkChoice, SearchSettings
from engine.errors import GroundTruthError, PhotoError
from engine.evaluation.groundtruth import GroundTruth, TruthQuery, read
from engine.evaluation.job import Subject
from engine.evaluation.job import evaluate as judge
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
    """Index the folder into the cache (only what is new) and ask every query of its gt.json.

    Raises:
        GroundTruthError: gt.json is missing or says nothing to measure.
        RefocalError: indexing failed.
    """
    truth = read(request.folder)
    _demand_photos(truth)
    features = FeatureSettings(size_px=request.size_px or FeatureSettings().size_px)
    search = request.settings or SearchSettings()
    network = request.network or NetworkChoice(DEFAULT)  # whatever the last run measured
    with Engine.open(_library_of(request.folder), network=network) as engine:
        engine.index(IndexRequest((request.folder,), features.size_px), ticket)
        run = _Run(engine, truth, search, features, ticket, exact=request.exact_focus)
        subject = Subject(identify=run.identify, rank=run.rank, focus=run.focus)
        return judge(truth, subject, ticket, settings=run.settings())


def _demand_photos(truth: GroundTruth) -> None:
    """A listed photo that is not there would count as never found, and nobody would know."""
    missing = [name for name in truth.photos if not (truth.folder / name).is_file()]
    if missing:
        count = f"{len(missing)} of {len(truth.photos)} photos"
        raise GroundTruthError(f"{truth.folder} lacks {count} that gt.json lists: {missing[0]!r}")


def _library_of(folder: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(folder.resolve()), digest_size=8).hexdigest()
    return evaluation_cache() / name


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

    def rank(self, query: TruthQuery) -> SearchAnswer:
        request = SearchRequest(
            Picture(self._truth.folder / query.photo),
            query.box,
            top=None,
            settings=self._search,
            size_px=self._features.size_px,
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
        return {
            "network": status.network,
            "device": status.device,
            "photos": status.photos,
            "size_px": features.size_px,
            "method": str(search.method),
            "solver": str(search.solver),
            "shortlist": search.shortlist,
            "query_scale": search.query_scale,
            "expand": str(search.expand),
            "regions": str(features.regions),
            "levels": features.levels,
            "pooling": "gem on both sides",
            "focus_map": "exact" if self._exact else "footprint",
            "index": status.index,
        }
