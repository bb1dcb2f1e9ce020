"""Settings survive: another version, a damaged file, a value that does not fit, a full disk."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app import settings as module
from app.settings import (
    MIGRATIONS,
    VERSION,
    Loaded,
    Settings,
    SettingsKeeper,
    from_document,
    load,
    migrated,
    save,
    settings_file,
    to_document,
)

CHANGED = Settings(
    theme="dark",
    focus_shown=False,
    box_shown=False,
    focus_opacity=0.25,
    tile_px=240,
    library=Path("/photos/library"),
    last_folders=(Path("/photos/2024"), Path("/photos/2023")),
    geometry=b"\x00\x01\xff",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.json"


def written(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def test_without_a_file_there_are_the_defaults(path: Path) -> None:
    assert load(path) == Loaded(Settings())
    assert not path.exists()


def test_what_is_saved_is_loaded(path: Path) -> None:
    save(CHANGED, path)
    assert load(path) == Loaded(CHANGED)
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_every_setting_differs_from_its_default_in_the_test_above() -> None:
    for name, value in to_document(CHANGED).items():
        assert name == "version" or value != to_document(Settings())[name], name


paths = st.text(st.characters(exclude_characters="\0"), min_size=1).map(Path)


@given(
    st.builds(
        Settings,
        theme=st.sampled_from(module.THEMES),
        focus_shown=st.booleans(),
        box_shown=st.booleans(),
        focus_opacity=st.floats(0, 1),
        tile_px=st.integers(1, 10_000),
        library=st.none() | paths,
        last_folders=st.lists(paths, max_size=module.FOLDERS_KEPT).map(tuple),
        geometry=st.binary(max_size=50),
    )
)
def test_any_settings_go_through_json_and_come_back(settings: Settings) -> None:
    document = json.loads(json.dumps(to_document(settings)))
    assert from_document(migrated(document)) == settings


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe\x00", b"[]", b"3", b'{"theme": "dark"}', b'{"version": "1"}']
)
def test_a_damaged_file_gives_the_defaults_and_is_kept_aside(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    loaded = load(path)
    assert loaded.settings == Settings()
    assert loaded.aside is not None
    assert loaded.aside.read_bytes() == content
    assert not path.exists()
    assert load(path) == Loaded(Settings())


def test_a_file_of_a_newer_refocal_is_kept_aside(path: Path) -> None:
    newer = {"version": VERSION + 1, "theme": {"name": "dark"}}
    loaded = load(written(path, newer))
    assert loaded.settings == Settings()
    assert loaded.aside is not None
    assert json.loads(loaded.aside.read_text()) == newer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "purple"),
        ("theme", 1),
        ("focus_shown", "yes"),
        ("focus_shown", 1),
        ("box_shown", None),
        ("focus_opacity", 1.5),
        ("focus_opacity", True),
        ("focus_opacity", "0.5"),
        ("tile_px", 0),
        ("tile_px", 176.5),
        ("library", ""),
        ("library", 3),
        ("last_folders", "/photos"),
        ("last_folders", ["/photos", 3]),
        ("geometry", "no base64!"),
        ("geometry", 3),
    ],
)
def test_a_value_that_does_not_fit_costs_that_value_alone(
    path: Path, name: str, value: object
) -> None:
    loaded = load(written(path, {**to_document(CHANGED), name: value}))
    assert loaded == Loaded(replace(CHANGED, **{name: getattr(Settings(), name)}))


def test_an_unknown_key_is_passed_over(path: Path) -> None:
    assert load(written(path, {**to_document(CHANGED), "new": 1})) == Loaded(CHANGED)


def test_a_file_that_cannot_be_read_is_left_where_it_is(path: Path) -> None:
    path.mkdir(parents=True)
    assert load(path) == Loaded(Settings())
    assert path.is_dir()


def test_there_is_a_migration_from_every_older_version() -> None:
    assert sorted(MIGRATIONS) == list(range(1, VERSION))


def test_migrations_run_one_after_the_other_and_change_no_argument() -> None:
    def rename(document: dict[str, Any]) -> dict[str, Any]:
        return {"colours": document["theme"]}

    def nest(document: dict[str, Any]) -> dict[str, Any]:
        return {"look": {"colours": document["colours"]}}

    first = {"version": 1, "theme": "dark"}
    steps = {1: rename, 2: nest}
    assert migrated(first, version=3, migrations=steps) == {
        "version": 3,
        "look": {"colours": "dark"},
    }
    assert migrated({"version": 2, "colours": "x"}, version=3, migrations=steps) == {
        "version": 3,
        "look": {"colours": "x"},
    }
    assert first == {"version": 1, "theme": "dark"}


def test_a_folder_is_remembered_once_and_as_the_newest() -> None:
    settings = Settings()
    for name in ("a", "b", "a", *"cdefghi"):
        settings = settings.with_folder(Path(name))
    assert settings.last_folders == tuple(map(Path, "ihgfedca"))


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(CHANGED, path)

    def full(self: Path, text: str, **_: object) -> int:
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        save(Settings(), path)
    monkeypatch.undo()
    assert load(path) == Loaded(CHANGED)
    assert [one.name for one in path.parent.iterdir()] == ["settings.json"]


def test_the_settings_lie_in_the_users_configuration() -> None:
    assert settings_file().name == "settings.json"
    assert "refocal" in settings_file().parts


# --- the keeper -----------------------------------------------------------------------------


def test_changes_are_saved_once_after_the_last_one(
    qtbot: QtBot, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves: list[Settings] = []
    monkeypatch.setattr(module, "save", lambda settings, _: saves.append(settings))
    keeper = SettingsKeeper(Settings(), path)
    for percent in range(50):
        keeper.change(replace(keeper.current, focus_opacity=percent / 100))
    assert saves == []
    qtbot.waitUntil(lambda: bool(saves), timeout=5_000)
    assert saves == [replace(Settings(), focus_opacity=0.49)]
    keeper.save_now()
    assert len(saves) == 1


def test_leaving_saves_at_once(qtbot: QtBot, path: Path) -> None:
    keeper = SettingsKeeper(Settings(), path)
    keeper.change(CHANGED)
    keeper.save_now()
    assert load(path).settings == CHANGED


def test_what_did_not_change_is_not_written(qtbot: QtBot, path: Path) -> None:
    keeper = SettingsKeeper(Settings(), path)
    keeper.change(Settings())
    keeper.save_now()
    assert not path.exists()


def test_a_disk_that_refuses_costs_the_settings_and_nothing_else(
    qtbot: QtBot, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    keeper = SettingsKeeper(Settings(), tmp_path / "file" / "settings.json")
    keeper.change(CHANGED)
    keeper.save_now()
    assert keeper.current == CHANGED
    assert "cannot be saved" in caplog.text
