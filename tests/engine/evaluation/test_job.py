"""The protocol: what leaves a ranking, what counts, and what is averaged."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.errors import GroundTruthError
from engine.evaluation.groundtruth import GroundTruth, Protocol, TruthQuery
from engine.evaluation.job import Subject, evaluate
from engine.jobs import Cancelled, Ticket
from engine.requests import EvaluateReport, ProtocolFigures, SearchAnswer
from engine.types import FocusMap, Hit, Photo, PhotoState, Picture, SearchTimings, Size

LEFT_HALF = ((0.0, 0.0), (49.0, 0.0), (49.0, 99.0), (0.0, 99.0))


def _hit(id_: int, score: float, global_score: float) -> Hit:
    path = Path(f"{id_}.jpg")
    return Hit(Photo(id_, path, PhotoState.READY, Size(100, 100)), score, global_score)


def _answer(hits: Sequence[Hit], *, total_ms: float = 5.0) -> SearchAnswer:
    return SearchAnswer(
        token="t",
        query=Picture(Path("q.jpg")),
        query_size=Size(100, 100),
        box=None,
        network="n",
        method="qam",
        hits=tuple(hits),
        timings_ms=SearchTimings(1, 2, 1, 1, 0, total_ms),
    )


def _judge(
    queries: Sequence[TruthQuery],
    rankings: Mapping[str, Sequence[Hit]],
    *,
    ids: dict[str, int | None] | None = None,
    maps: dict[int, FocusMap] | None = None,
    ticket: Ticket | None = None,
    protocol: Protocol = Protocol.LEAVE_QUERY_OUT,
    distractors: frozenset[int] = frozenset(),
) -> EvaluateReport:
    """Photos are named by their ids unless ``ids`` says otherwise."""
    names = ids or {}
    subject = Subject(
        identify=lambda name: names[name] if name in names else int(name),
        rank=lambda query: _answer(rankings[query.photo]),
        focus=lambda answer, id_: (maps or {}).get(id_),
        distractors=distractors,
    )
    truth = GroundTruth("set", Path("set"), tuple("123456"), tuple(queries), protocol)
    return evaluate(truth, subject, ticket or Ticket(), settings={"size": 768})


def _ranked(*ids: int) -> list[Hit]:
    return [_hit(id_, 1 - place / 10, 1 - place / 10) for place, id_ in enumerate(ids)]


def test_the_querys_own_photo_and_its_junk_leave_the_ranking() -> None:
    query = TruthQuery("1", None, ("4", "5"), junk=("2",))
    report = _judge([query], {"1": _ranked(1, 2, 4, 3, 5)})
    assert report.map == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert report.recall_at == {1: 0.5, 5: 1.0, 10: 1.0, 100: 1.0}
    assert (report.dataset, report.queries) == ("set", 1)
    assert report.settings == {"size": 768}


def test_map_is_the_mean_and_its_parts_may_differ_from_the_global_one() -> None:
    hits = [_hit(4, 0.9, 0.1), _hit(3, 0.8, 0.9), _hit(2, 0.2, 0.5)]
    report = _judge(
        [TruthQuery("1", None, ("4",)), TruthQuery("5", None, ("2",))],
        {"1": hits, "5": hits},
    )
    assert report.map == pytest.approx((1.0 + 1 / 3) / 2)
    assert report.map_global == pytest.approx((1 / 3 + 1 / 2) / 2)


def test_a_query_without_a_positive_is_left_out() -> None:
    queries = [TruthQuery("1", None, ()), TruthQuery("2", None, ("3",))]
    report = _judge(queries, {"2": _ranked(3)})
    assert (report.queries, report.map) == (1, 1.0)


def test_no_query_with_a_positive() -> None:
    with pytest.raises(GroundTruthError, match="no query of set has a positive"):
        _judge([TruthQuery("1", None, ())], {})


def test_copies_are_one_photo_found_once() -> None:
    """ "copy" has the content of 4: together one positive; "self" is the query's: none at all."""
    query = TruthQuery("1", None, ("4", "copy", "self", "5"))
    report = _judge([query], {"1": _ranked(4, 3, 5)}, ids={"copy": 4, "self": 1})
    assert report.map == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_junk_that_is_a_copy_of_a_positive_stays() -> None:
    query = TruthQuery("1", None, ("4",), junk=("copy",))
    assert _judge([query], {"1": _ranked(4)}, ids={"copy": 4}).map == 1.0


def test_an_unreadable_positive_counts_as_never_found() -> None:
    query = TruthQuery("1", None, ("4", "broken"))
    report = _judge([query], {"1": _ranked(4, 3)}, ids={"broken": None})
    assert report.map == pytest.approx(0.5)
    assert report.recall_at[100] == pytest.approx(0.5)


def test_ns_score_needs_groups_of_four() -> None:
    four = TruthQuery("1", None, ("2", "3", "4"))
    rankings = {"1": _ranked(1, 2, 5, 3, 4), "5": _ranked(6)}
    assert _judge([four], rankings).ns_score == pytest.approx(3.0)
    assert _judge([four, TruthQuery("5", None, ("6",))], rankings).ns_score is None


# --- other protocols ------------------------------------------------------------------------


def _asked(photo: str, *, easy: str, hard: str, junk: str) -> TruthQuery:
    return TruthQuery(
        photo, None, tuple(easy + hard), tuple(junk), easy=tuple(easy), hard=tuple(hard)
    )


def test_the_three_figures_of_a_revisited_set() -> None:
    """The ranking is 3 2 4 1 5 6; 1 is easy, 2 is hard, 3 is junk.

    medium: 3 leaves, + - + - -: (1 + (1/2 + 2/3)/2) / 2 = 19/24, and P@5 looks at three.
    easy: 3 and 2 leave, - + - -: (0/1 + 1/2)/2 = 1/4, and P@5 looks at two.
    hard: 3 and 1 leave, + - - -: 1.
    """
    query = _asked("9", easy="1", hard="2", junk="3")
    report = _judge([query], {"9": _ranked(3, 2, 4, 1, 5, 6)}, protocol=Protocol.REVISITED)
    assert report.protocols == {
        "easy": ProtocolFigures(1, pytest.approx(1 / 4), {1: 0.0, 5: 0.5, 10: 0.5}),  # type: ignore[arg-type]
        "medium": ProtocolFigures(
            1,
            pytest.approx(19 / 24),  # type: ignore[arg-type]
            pytest.approx({1: 1.0, 5: 2 / 3, 10: 2 / 3}),  # type: ignore[arg-type]
        ),
        "hard": ProtocolFigures(1, 1.0, {1: 1.0, 5: 1.0, 10: 1.0}),
    }
    assert report.map == report.map_global == pytest.approx(19 / 24)
    assert report.recall_at == {1: 0.5, 5: 1.0, 10: 1.0, 100: 1.0}
    assert report.ns_score is None


def test_each_figure_leaves_out_the_queries_that_have_no_positive_in_it() -> None:
    queries = [
        _asked("9", easy="", hard="2", junk=""),
        _asked("8", easy="1", hard="2", junk=""),
        _asked("7", easy="", hard="", junk="1"),
    ]
    rankings = {"9": _ranked(1, 2), "8": _ranked(1, 2)}
    report = _judge(queries, rankings, protocol=Protocol.REVISITED)
    counts = {name: figures.queries for name, figures in report.protocols.items()}
    assert counts == {"easy": 1, "medium": 2, "hard": 2}
    assert report.queries == 2
    assert report.protocols["hard"].map == pytest.approx((1 / 4 + 1) / 2)


def test_a_figure_that_no_query_has_is_absent() -> None:
    query = _asked("9", easy="1", hard="", junk="")
    report = _judge([query], {"9": _ranked(1)}, protocol=Protocol.REVISITED)
    assert set(report.protocols) == {"easy", "medium"}


def test_the_original_protocol_has_one_figure_by_trapezoids() -> None:
    """The photo that asks, 1, is one of its own answers and stays."""
    query = TruthQuery("1", None, ("1", "2"), ("3",))
    report = _judge([query], {"1": _ranked(3, 1, 4, 2)}, protocol=Protocol.ORIGINAL)
    assert set(report.protocols) == {"original"}
    assert report.map == report.protocols["original"].map == pytest.approx(19 / 24)


def test_leave_query_out_has_one_figure_by_the_sum() -> None:
    report = _judge([TruthQuery("9", None, ("1", "2"), ("3",))], {"9": _ranked(3, 1, 4, 2)})
    assert set(report.protocols) == {"leave-query-out"}
    assert report.map == report.protocols["leave-query-out"].map == pytest.approx(5 / 6)


def test_distractors_are_ranked_and_other_photos_are_not() -> None:
    """12 and 13 distract, 14 never turns up; 11 is not listed and leaves."""
    query = TruthQuery("9", None, ("1",))
    report = _judge([query], {"9": _ranked(11, 12, 1, 13)}, distractors=frozenset({12, 13, 14}))
    assert report.map == pytest.approx(1 / 2)
    assert report.distractors == 2


# --- focus ----------------------------------------------------------------------------------


def _focus(*columns: float) -> FocusMap:
    return FocusMap(np.array([columns, columns], dtype=np.float32), exact=False)


def test_focus_is_judged_for_every_pair_with_a_mask() -> None:
    """2 is pointed at rightly, 3 wrongly, 4 has no map and is a miss, 5 has no mask."""
    masks = dict.fromkeys("234", (LEFT_HALF,))
    query = TruthQuery("1", None, ("2", "3", "4", "5"), masks=masks)
    report = _judge(
        [query],
        {"1": _ranked(6, 2, 3, 4, 5)},
        maps={2: _focus(1.0, 0.0), 3: _focus(0.0, 1.0), 5: _focus(1.0, 1.0)},
    )
    assert report.pointing == pytest.approx(1 / 3)
    assert report.pointing_chance == pytest.approx(0.5, abs=0.01)
    assert report.focus_iou == pytest.approx(1 / 3, abs=0.06)


def test_a_method_without_maps_has_no_focus_figures() -> None:
    query = TruthQuery("1", None, ("2",), masks={"2": (LEFT_HALF,)})
    report = _judge([query], {"1": _ranked(2)})
    assert (report.pointing, report.focus_iou) == (None, None)
    assert report.pointing_chance == pytest.approx(0.5, abs=0.01)
    assert _judge([TruthQuery("1", None, ("2",))], {"1": _ranked(2)}).pointing_chance is None


def test_timings_are_medians() -> None:
    queries = [TruthQuery(str(n), None, ("9",)) for n in range(1, 4)]
    totals = iter([1.0, 100.0, 3.0])
    subject = Subject(
        identify=int,
        rank=lambda query: _answer(_ranked(9), total_ms=next(totals)),
        focus=lambda answer, id_: None,
    )
    truth = GroundTruth("set", Path("set"), ("1",), tuple(queries))
    report = evaluate(truth, subject, Ticket(), settings={})
    assert report.timings_ms["total"] == 3.0
    assert set(report.timings_ms) == {
        "decode", "network", "shortlist", "rerank", "expand", "total"
    }  # fmt: skip


def test_progress_and_cancel() -> None:
    ticket = Ticket()
    query = TruthQuery("1", None, ("2",))
    _judge([query, query], {"1": _ranked(2)}, ticket=ticket)
    assert (ticket.progress.stage, ticket.progress.total) == ("evaluating", 2)
    ticket.cancel()
    with pytest.raises(Cancelled):
        _judge([query], {"1": _ranked(2)}, ticket=ticket)
