"""What the methods compare: the ranked photos of a ground truth, and its questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.comparing.extraction import Content, Extraction
from engine.errors import PhotoUnreadableError
from engine.evaluation.groundtruth import GroundTruth, TruthQuery
from engine.types import Failure, Photo, PhotoState


@dataclass(frozen=True, slots=True)
class Question:
    """What a query shows. ``crop``: the box at the query scale, or the whole photo as it is
    ranked. ``scaled``: the box at each of the part scales; empty for a whole photo. ``own``: the
    photo that asks."""

    own: Content
    crop: Content
    scaled: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Material:
    """``ranked``: the contents that are ranked, each once; their place is their id. ``ids``: what
    each name of the ground truth is, None for a photo that cannot be read; contents that ask and
    are not ranked have ids beyond. ``distractors``: ids of what the ground truth does not name.
    """

    truth: GroundTruth
    extraction: Extraction
    ranked: tuple[Content, ...]
    ids: Mapping[str, int | None]
    questions: tuple[Question, ...]
    distractors: frozenset[int]
    failures: tuple[Failure, ...]

    def photo(self, id_: int) -> Photo:
        """One of the ranked."""
        content = self.ranked[id_]
        return Photo(id_, content.path, PhotoState.READY, content.size)

    def own(self, number: int) -> int | None:
        """The id that must not be found by this query; None where it may be."""
        return None if self.truth.keeps_own else self.ids[self.truth.queries[number].photo]


def gather(
    truth: GroundTruth,
    extraction: Extraction,
    *,
    distractors: Sequence[Path] = (),
    query_scale: float = 1.0,
    part_scales: Sequence[float] = (),
) -> Material:
    """Extract all that a comparison needs.

    Args:
        distractors: photo files that are ranked too; copies of what the truth names are not.
        query_scale: of the crop that is asked with.
        part_scales: of the crops whose descriptors the default averages.

    Raises:
        PhotoError: a photo that asks cannot be read.
    """
    asking = dict.fromkeys(query.photo for query in truth.queries)
    names = {truth.folder / name: name for name in dict.fromkeys((*truth.photos, *asking))}
    found, failures = extraction.photos([*names, *distractors])
    listed = [found[truth.folder / name] for name in truth.photos if truth.folder / name in found]
    named = {found[path].name for path in names if path in found}
    others = [found[path] for path in distractors if path in found]
    extra = {content.name: content for content in others if content.name not in named}
    first = {content.name: content for content in listed}
    ranked = (*first.values(), *extra.values())
    ids = {content.name: id_ for id_, content in enumerate(ranked)}
    for name in asking:
        if truth.folder / name in found:
            ids.setdefault(found[truth.folder / name].name, len(ids))
    return Material(
        truth=truth,
        extraction=extraction,
        ranked=ranked,
        ids={
            name: ids[found[path].name] if path in found else None for path, name in names.items()
        },
        questions=_questions(truth, found, extraction, (query_scale, *part_scales)),
        distractors=frozenset(ids[name] for name in extra),
        failures=tuple(failures),
    )


def _questions(
    truth: GroundTruth,
    found: Mapping[Path, Content],
    extraction: Extraction,
    scales: tuple[float, ...],
) -> tuple[Question, ...]:
    questions = []
    for done, query in enumerate(truth.queries):
        extraction.ticket.update("queries", done, len(truth.queries))
        questions.append(_question(query, truth.folder / query.photo, found, extraction, scales))
    return tuple(questions)


def _question(
    query: TruthQuery,
    path: Path,
    found: Mapping[Path, Content],
    extraction: Extraction,
    scales: tuple[float, ...],
) -> Question:
    if path not in found:
        raise PhotoUnreadableError("this photo asks, and it cannot be read", path=path)
    own = found[path]
    if query.box is None:
        return Question(own, own, ())
    crop, *scaled = (extraction.crop(own, query.box, scale) for scale in scales)
    return Question(own, crop, tuple(scaled))
