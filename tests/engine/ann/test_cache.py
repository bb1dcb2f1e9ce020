"""Report 34: a graph's file is used only when it is whole and means the same rows."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.ann.choice import open_index
from engine.ann.hnsw import HnswIndex
from engine.config import HnswSettings
from engine.jobs import Ticket
from engine.types import FloatArray
from tests.engine.ann.test_index import SETTINGS, needs_hnswlib, unit_rows

pytestmark = needs_hnswlib


def opened(
    vectors: FloatArray,
    cache: Path,
    *,
    fingerprint: str = "network-1",
    settings: HnswSettings = SETTINGS,
) -> tuple[HnswIndex, bool]:
    """The index, and whether a graph had to be built or extended for it."""
    ticket = Ticket()
    choice = open_index(
        vectors, cache=cache, fingerprint=fingerprint, settings=settings, ticket=ticket
    )
    assert isinstance(choice.index, HnswIndex)
    return choice.index, ticket.progress.stage == "building the index"


def test_the_second_time_nothing_is_built(tmp_path: Path) -> None:
    vectors = unit_rows(300)
    assert opened(vectors, tmp_path)[1]
    index, built = opened(vectors, tmp_path)
    assert not built
    assert index.search(vectors[123], 1)[0].tolist() == [123]


def test_a_library_that_has_grown_much_keeps_the_old_rows(tmp_path: Path) -> None:
    vectors = unit_rows(600)
    opened(vectors[:300], tmp_path)
    index, built = opened(vectors, tmp_path)
    assert built
    assert index.graph_rows == 600
    assert index.search(vectors[599], 1)[0].tolist() == [599]
    assert not opened(vectors, tmp_path)[1]


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.999])
def test_report_34_a_flipped_bit_is_noticed(tmp_path: Path, where: float) -> None:
    vectors = unit_rows(300)
    opened(vectors, tmp_path)
    file = tmp_path / "graph.hnsw"
    content = bytearray(file.read_bytes())
    content[int(where * len(content))] ^= 0x10
    file.write_bytes(content)
    index, built = opened(vectors, tmp_path)
    assert built
    assert index.search(vectors[5], 1)[0].tolist() == [5]


@pytest.mark.parametrize("kept", [0, 1, 100, 5000])
def test_report_34_a_truncated_file_is_noticed(tmp_path: Path, kept: int) -> None:
    vectors = unit_rows(300)
    opened(vectors, tmp_path)
    file = tmp_path / "graph.hnsw"
    file.write_bytes(file.read_bytes()[:kept])
    assert opened(vectors, tmp_path)[1]


@pytest.mark.parametrize("note", ["", "{}", "[1]", '{"rows": "many"}', "\0"])
def test_a_note_that_is_none_is_noticed(tmp_path: Path, note: str) -> None:
    vectors = unit_rows(300)
    opened(vectors, tmp_path)
    (tmp_path / "graph.json").write_text(note)
    assert opened(vectors, tmp_path)[1]


def test_a_lying_note_is_not_believed(tmp_path: Path) -> None:
    vectors = unit_rows(300)
    opened(vectors, tmp_path)
    note = json.loads((tmp_path / "graph.json").read_text())
    (tmp_path / "graph.json").write_text(json.dumps({**note, "rows": 299}))
    assert opened(vectors, tmp_path)[1]


def test_other_numbers_get_another_graph(tmp_path: Path) -> None:
    vectors = unit_rows(300)
    opened(vectors, tmp_path)
    assert opened(vectors, tmp_path, fingerprint="network-2")[1]
    assert opened(vectors, tmp_path, fingerprint="network-2", settings=replace(SETTINGS, m=8))[1]
    reversed_rows = np.ascontiguousarray(vectors[::-1])
    index, built = opened(
        reversed_rows, tmp_path, fingerprint="network-2", settings=replace(SETTINGS, m=8)
    )
    assert built
    assert index.search(vectors[0], 1)[0].tolist() == [299]


def test_a_disk_that_takes_no_file_costs_only_time(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    vectors = unit_rows(300)
    index, built = opened(vectors, blocked / "index")
    assert built
    assert index.search(vectors[9], 1)[0].tolist() == [9]
