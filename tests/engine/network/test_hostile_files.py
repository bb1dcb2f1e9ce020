"""Files that want to do harm, and files that are no checkpoints: one line, nothing run, no gigabyte
taken, nothing kept."""

import io
import os
import pickle
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from engine.errors import NetworkError
from engine.jobs import Ticket
from engine.network.checkpoint import read_checkpoint
from engine.network.importing import Wanted, import_file
from tests.engine.network import hostile

_MOST_BYTES = 64 * 1024**2
TRACE = Path("trace")
CALLS = [name for name, _ in hostile.calls(TRACE)]
PROGRAMS = [name for name, _ in hostile.programs(TRACE)]


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[Path]:
    """A file that must not be there afterwards."""
    place = tmp_path / "trace"
    yield place
    assert not place.exists()


def refused(content: bytes, folder: Path, name: str = "file.pt") -> str:
    """The reason; and nothing is kept or taken."""
    path = folder / name
    path.write_bytes(content)
    tracemalloc.start()
    with pytest.raises(NetworkError) as caught:
        import_file(path, folder / "networks", Wanted(network="resnet50"), Ticket())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < _MOST_BYTES
    assert not (folder / "networks").exists()
    reason = caught.value.reason
    assert len(reason) > 20
    assert "\n" not in reason
    return reason


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("name", CALLS)
def test_what_a_pickle_wants_to_call_is_not_called(
    name: str, protocol: int, trace: Path, tmp_path: Path
) -> None:
    harm = dict(hostile.calls(trace))[name]
    content = pickle.dumps({"state_dict": {"a": harm}}, protocol)
    for wrapped in (hostile.of_pickles(content), hostile.of_archive(content)):
        assert "not admitted" in refused(wrapped, tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_operations_that_do_harm_are_refused(name: str, trace: Path, tmp_path: Path) -> None:
    content = dict(hostile.programs(trace))[name]
    for wrapped in (content, hostile.of_pickles(content), hostile.of_archive(content)):
        assert "holds no network that can be read: " in refused(wrapped, tmp_path)


def test_the_harm_is_real(tmp_path: Path) -> None:
    """The same objects, unpickled as usual, do what they say."""
    done = tmp_path / "done"
    pickle.loads(pickle.dumps(dict(hostile.calls(done))["touch"]))
    assert done.exists()


def test_harm_beside_a_good_state_dictionary_is_found(trace: Path, tmp_path: Path) -> None:
    made = io.BytesIO()
    good = {"state_dict": {"a": torch.ones(2)}, "epoch": hostile.Calls(os.system, f"touch {trace}")}
    torch.save(good, made)
    assert "posix.system" in refused(made.getvalue(), tmp_path)


# --- sizes that are not there ---------------------------------------------------------------

_TENSOR = (
    b"\x80\x02}X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n"
    b"((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu%btQ"
    b"%b%b%b\x89NtRs."
)


def _long(value: int) -> bytes:
    return b"\x8a\x08" + struct.pack("<q", value)


def _tensor(count: int, offset: int, size: int, stride: int) -> bytes:
    sides = [_long(one) + b"\x85" for one in (size, stride)]
    return _TENSOR % (_long(count), _long(offset), *sides)


@pytest.mark.parametrize(
    ("count", "offset", "size", "stride"),
    [
        (4, 0, 5, 1),
        (4, 2, 3, 1),
        (4, 0, 2, 4),
        (4, 0, 2**40, 0),
        (4, -1, 2, 1),
        (4, 0, -2, 1),
        (4, 3, 2, -1),
        (-4, 0, 1, 1),
        (2**40, 0, 2**40, 1),
        (2**62, 2**61, 1, 1),
    ],
)
def test_tensors_that_reach_beyond_the_file(
    count: int, offset: int, size: int, stride: int, tmp_path: Path
) -> None:
    content = _tensor(count, offset, size, stride)
    numbers = bytes(16)
    archive = hostile.zipped({"archive/data.pkl": content, "archive/data/0": numbers})
    refused(archive, tmp_path)
    keys = pickle.dumps(["0"], 2)
    before = hostile.of_pickles(content).removesuffix(pickle.dumps([], 2))
    refused(before + keys + struct.pack("<q", max(count, 0)) + numbers, tmp_path)


def test_the_tensors_above_are_read_where_they_fit(tmp_path: Path) -> None:
    archive = hostile.zipped(
        {"archive/data.pkl": _tensor(4, 1, 3, 1), "archive/data/0": struct.pack("<4f", 1, 2, 3, 4)}
    )
    found = read_checkpoint(io.BytesIO(archive), len(archive))
    assert found.weights["a"].tolist() == [2, 3, 4]


# --- archives -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../a.pt", "/a.pt", "x/../../a.pt", "..\\a.pt"])
def test_names_that_lead_out_of_an_archive(name: str, tmp_path: Path) -> None:
    assert "has a member named" in refused(hostile.zipped({name: b"x"}), tmp_path, "file.zip")


def test_an_archive_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    bomb = hostile.zipped({"a.pt": bytes(40_000_000)}, packed=True)
    assert len(bomb) < 100_000
    assert "unpacks to too much" in refused(bomb, tmp_path, "file.zip")


def test_packed_members_of_torch(tmp_path: Path) -> None:
    bomb = hostile.zipped({"archive/data.pkl": bytes(40_000_000)}, packed=True)
    assert "packed" in refused(bomb, tmp_path)


def test_an_archive_that_lies_about_sizes(tmp_path: Path) -> None:
    archive = bytearray(hostile.zipped({"a.pt": bytes(1000)}, packed=True))
    at = archive.index(b"PK\x01\x02")
    archive[at + 24 : at + 28] = struct.pack("<I", 10)  # the size of what is unpacked
    refused(bytes(archive), tmp_path, "file.zip")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"readme.txt": b"hello"}, "0 checkpoints"),
        ({"a.pt": b"x", "b.pt": b"x"}, "2 checkpoints"),
        ({"a/data.pkl": b"N.", "b/data.pkl": b"N."}, "no content"),
        ({"x/manifest.json": b"{}"}, "no manifest"),
        ({"x/manifest.json": b"[" * 100_000}, "damaged"),
    ],
)
def test_archives_of_other_things(members: dict[str, bytes], reason: str, tmp_path: Path) -> None:
    assert reason in refused(hostile.zipped(members), tmp_path, "file.zip")


# --- no checkpoint at all -------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"P",
        b"PK\x03\x04",
        b"PK\x03\x04" + bytes(1000),
        b"<html>404</html>",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"\xff" * 1000,
        b"\n" * 100_000,
        pickle.dumps({"a": 1}, 2),
    ],
)
def test_files_that_are_none(content: bytes, tmp_path: Path) -> None:
    for name in ("file.pt", "file.zip", "file.safetensors"):
        refused(content, tmp_path, name)


def test_a_file_that_is_cut_off_anywhere(tmp_path: Path) -> None:
    for legacy in (True, False):
        made = io.BytesIO()
        torch.save({"a": torch.ones(40)}, made, _use_new_zipfile_serialization=not legacy)
        whole = made.getvalue()
        for length in range(0, len(whole) - 1, 29):
            with pytest.raises(NetworkError):
                read_checkpoint(io.BytesIO(whole[:length]), length)


def test_places_that_are_no_files(tmp_path: Path) -> None:
    for path, reason in ((tmp_path, "is a folder"), (tmp_path / "none.pt", "is no file")):
        with pytest.raises(NetworkError, match=reason):
            import_file(path, tmp_path / "networks", Wanted(), Ticket())
    assert not (tmp_path / "networks").exists()


@pytest.mark.parametrize(
    "content",
    [
        [1, 2],
        {},
        {"state_dict": {}},
        {"state_dict": {"a": 1}},
        {"a": torch.tensor([float("nan")])},
        {"a": torch.tensor([1])},
        {"a": torch.ones(1), "meta": {"architecture": 3}},
        {"state_dict": {"a": torch.ones(1)}, "meta": {}},
        {"state_dict": {"a": torch.ones(1)}, "model_options": {}},
        {"state_dict": {"a": torch.ones(1)}, "model_options": {"arch": "vgg_rmac_fpn"}},
        {"state_dict": {"unknown.weight": torch.ones(1)}},
    ],
)
def test_checkpoints_of_nothing_that_is_known(content: object, tmp_path: Path) -> None:
    made = io.BytesIO()
    torch.save(content, made)
    refused(made.getvalue(), tmp_path)
