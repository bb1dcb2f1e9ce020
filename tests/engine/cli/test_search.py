"""What the command line asks of the engine and says of its answer, over a scripted engine."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.cli import commands
from engine.cli.main import main
from engine.requests import Cutoff, SearchRequest
from tests.fakes.scripted_engine import ScriptedEngine, hit

Run = Callable[..., tuple[int, str, str]]


class _Library(ScriptedEngine):
    """Its photos lie at /album, photo 1 to 40."""

    def photo_id(self, path: Path) -> int | None:
        places = {f"/album/photo_{n:06}.jpg": n for n in range(1, 41)}
        return places.get(str(path))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> _Library:
    made = _Library(hits=[hit(n, 0.9 - n / 100) for n in range(1, 41)])

    class Door:
        @staticmethod
        @contextmanager
        def open(*_: object, **__: object) -> Iterator[_Library]:
            yield made

    monkeypatch.setattr(commands, "Engine", Door)
    return made


@pytest.fixture
def run(engine: _Library, capsys: pytest.CaptureFixture[str]) -> Run:
    def refocal_search(*options: str | Path) -> tuple[int, str, str]:
        status = main(["search", "query.jpg", *map(str, options)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return refocal_search


def request(engine: _Library) -> SearchRequest:
    (one,) = engine.requests(SearchRequest)
    assert isinstance(one, SearchRequest)
    return one


def test_report_24_json_has_the_total_and_the_cutoff(run: Run, engine: _Library) -> None:
    engine.cutoff = Cutoff(0.85, good=True)
    status, out, _ = run("--json", "--top", "3")
    answer = json.loads(out)
    assert status == 0
    assert answer["total"] == 40
    assert answer["cutoff"] == {"score": 0.85, "good": True}
    assert len(answer["hits"]) == 3


def test_report_24_where_the_engine_cannot_tell_json_says_null(run: Run) -> None:
    assert json.loads(run("--json")[1])["cutoff"] is None


@pytest.mark.parametrize("good", [True, False])
def test_report_24_no_good_match_is_said(run: Run, engine: _Library, good: bool) -> None:
    engine.cutoff = Cutoff(0.95, good=good)
    assert ("no good match" in run()[1]) is not good


def test_report_24_hits_below_the_least_score_are_left_out(run: Run) -> None:
    _, out, _ = run("--json", "--min-score", "0.86", "--top", "40")
    assert [round(one["score"], 2) for one in json.loads(out)["hits"]] == [0.89, 0.88, 0.87, 0.86]


@pytest.mark.parametrize("wrong", ["1.5", "nan", "much", "-2"])
def test_a_least_score_is_a_cosine(
    run: Run, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(f"--min-score={wrong}")
    assert ended.value.code == 2
    assert "from -1 to 1" in capsys.readouterr().err


def test_report_28_any_number_of_hits_goes_into_a_file(
    run: Run, engine: _Library, tmp_path: Path
) -> None:
    target = tmp_path / "hits.txt"
    status, out, _ = run("--export", target, "--top", "100000", "--min-score", "0.6")
    assert status == 0
    assert request(engine).top == 100_000
    assert len(target.read_text().splitlines()) == 30
    assert f"30 hits of 40 written to {target}" in out
    assert "photo_000001" not in out


def test_report_28_an_exported_search_still_prints_its_json(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "hits.json"
    _, out, _ = run("--export", target, "--json", "--top", "5")
    assert json.loads(target.read_text())["hits"] == json.loads(out)["hits"]


def test_report_28_a_file_of_no_known_kind_is_wrong_usage(
    run: Run, engine: _Library, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--export", "hits.xlsx")
    assert ended.value.code == 2
    assert ".csv, .json, .txt" in capsys.readouterr().err
    assert engine.asked == []


def test_report_28_a_missing_folder_is_one_line(run: Run, tmp_path: Path) -> None:
    status, _, said = run("--export", tmp_path / "nowhere" / "hits.csv")
    assert status == 1
    assert len(said.splitlines()) == 1
    assert "there is no folder" in said


def test_report_33_photos_steer_by_their_paths(run: Run, engine: _Library) -> None:
    status, _, _ = run(
        "--like", "/album/photo_000007.jpg", "--like", "/album/photo_000009.jpg",
        "--unlike", "/album/photo_000001.jpg",
    )  # fmt: skip
    assert status == 0
    assert (request(engine).liked, request(engine).disliked) == ((7, 9), (1,))


@pytest.mark.parametrize("option", ["--like", "--unlike"])
def test_report_33_a_photo_that_is_not_in_the_library_is_one_line(
    run: Run, engine: _Library, option: str
) -> None:
    status, _, said = run(option, "/elsewhere/x.jpg")
    assert status == 1
    assert said == "refocal: /elsewhere/x.jpg: this library has no photo at this place\n"
    assert engine.requests(SearchRequest) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", ""],
        ["index", "photos", ""],
        ["search", ""],
        ["search", "a.jpg", "--library", ""],
        ["search", "a.jpg", "--like", ""],
        ["evaluate", ""],
    ],
)
def test_an_empty_path_is_not_the_working_directory(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "a path cannot be empty" in capsys.readouterr().err


def test_a_refused_index_makes_no_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library, file = tmp_path / "library", tmp_path / "file"
    file.write_text("no folder")
    for named in ([], [tmp_path / "nowhere"], [tmp_path, file], [library]):
        assert main(["index", *map(str, named), "--library", str(library)]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
        assert not library.exists()


def test_a_library_that_is_there_is_not_asked_to_be_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from engine.service import Engine

    with Engine.open(tmp_path / "library"):
        pass
    assert main(["index", "--library", str(tmp_path / "library")]) == 0
    assert "0 indexed" in capsys.readouterr().out
