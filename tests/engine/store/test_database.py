import contextlib
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.errors import LibraryError, LibraryInUseError
from engine.store import database as database_module
from engine.store import migrations
from engine.store.database import Database
from engine.store.paths import LibraryPaths
from tests.fakes.rights import as_ordinary_user


def _add_folder(database: Database, name: bytes) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO folders (path) VALUES (?)", (name,))


def _folders(database: Database) -> list[bytes]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT path FROM folders ORDER BY id")]


def test_a_new_library_is_made_with_its_folders(database: Database, paths: LibraryPaths) -> None:
    assert database.writable
    assert database.folder == paths.root
    with database.read() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
        assert migrations.version(connection) == migrations.VERSION


def test_reopening_keeps_what_was_written(paths: LibraryPaths) -> None:
    for name in (b"one", b"two"):
        opened = Database.open(paths, writable=True)
        _add_folder(opened, name)
        opened.close()
    opened = Database.open(paths, writable=False)
    assert _folders(opened) == [b"one", b"two"]
    opened.close()


def test_a_failed_write_leaves_nothing(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.write() as connection:  # noqa: PT012
        connection.execute("INSERT INTO folders (path) VALUES (x'00')")
        raise ZeroDivisionError
    assert _folders(database) == []


def test_foreign_keys_hold(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        connection.execute(
            "INSERT INTO vectors (photo_id, network_id, row, region_start, region_count)"
            " VALUES (1, 1, 0, 0, 0)"
        )


def test_a_view_stays_the_same_while_another_thread_writes(database: Database) -> None:
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM folders").fetchone() == (0,)
        writer = threading.Thread(target=_add_folder, args=(database, b"new"))
        writer.start()
        writer.join()
        assert connection.execute("SELECT count(*) FROM folders").fetchone() == (0,)
    assert _folders(database) == [b"new"]


def test_many_threads_write_without_being_turned_away(database: Database) -> None:
    def write_many(number: int) -> None:
        for turn in range(25):
            _add_folder(database, b"%d/%d" % (number, turn))

    threads = [threading.Thread(target=write_many, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(_folders(database)) == 200


def test_reading_works_while_another_process_writes(
    database: Database, paths: LibraryPaths
) -> None:
    _add_folder(database, b"before")
    script = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "connection.execute(\"INSERT INTO folders (path) VALUES (x'01')\")\n"
        "print('writing', flush=True)\n"
        "sys.stdin.readline()\n"
        "connection.execute('COMMIT')\n"
        "connection.close()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(paths.database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        reader = Database.open(paths, writable=False)
        assert _folders(reader) == [b"before"]
        writer.communicate("go\n")
        assert _folders(reader) == [b"before", b"\x01"]
        reader.close()


def test_a_library_held_by_a_stranger_is_busy_not_broken(
    database: Database, paths: LibraryPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_BUSY_TIMEOUT_S", 0.05)
    stranger = sqlite3.connect(paths.database, isolation_level=None)
    stranger.execute("BEGIN IMMEDIATE")
    hasty = Database(paths.database, paths.database.as_uri() + "?mode=rw", writable=True)
    with pytest.raises(LibraryInUseError, match="busy"):
        _add_folder(hasty, b"x")
    stranger.close()
    _add_folder(hasty, b"x")
    hasty.close()


def test_connections_of_ended_threads_are_closed(database: Database) -> None:
    for _ in range(20):
        thread = threading.Thread(target=_folders, args=(database,))
        thread.start()
        thread.join()
    assert len(database._all) == 1


def _count(connection: sqlite3.Connection) -> list[int]:
    return [connection.execute("SELECT count(*) FROM folders").fetchone()[0]]


def test_what_was_derived_is_kept_until_this_or_another_thread_commits(database: Database) -> None:
    before = database.derived(_count)
    assert before == [0]
    assert database.derived(_count) is before
    _add_folder(database, b"/a")
    mine = database.derived(_count)
    assert mine == [1]
    other = threading.Thread(target=_add_folder, args=(database, b"/b"))
    other.start()
    other.join()
    assert database.derived(_count) == [2]


def test_what_is_rolled_back_was_never_derived(database: Database) -> None:
    assert database.derived(_count) == [0]
    with contextlib.suppress(RuntimeError), database.write() as connection:
        connection.execute("INSERT INTO folders (path) VALUES (?)", (b"/a",))
        assert database.derived(_count) == [1]
        raise RuntimeError
    assert database.derived(_count) == [0]


def test_after_close_there_is_an_error_and_no_new_connection(database: Database) -> None:
    database.close()
    with pytest.raises(LibraryError, match="closed"):
        _folders(database)


class TestTheDoor:
    """What `Database.open` turns away."""

    def test_reading_a_library_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(LibraryError, match="there is no library at"):
            Database.open(LibraryPaths(tmp_path / "none"), writable=False)
        assert not (tmp_path / "none").exists()

    def test_a_file_that_is_no_database(self, paths: LibraryPaths) -> None:
        paths.root.mkdir()
        paths.database.write_bytes(b"this is not a database at all, far from it " * 50)
        for writable in (False, True):
            with pytest.raises(LibraryError, match="no database"):
                Database.open(paths, writable=writable)

    def test_the_database_of_another_program(self, paths: LibraryPaths) -> None:
        paths.root.mkdir()
        stranger = sqlite3.connect(paths.database)
        stranger.execute("CREATE TABLE theirs (x)")
        stranger.close()
        with pytest.raises(LibraryError, match="another program"):
            Database.open(paths, writable=True)

    def test_a_newer_library(self, database: Database, paths: LibraryPaths) -> None:
        with database.write() as connection:
            connection.execute(f"PRAGMA user_version = {migrations.VERSION + 1}")
        with pytest.raises(LibraryError, match="newer Refocal"):
            Database.open(paths, writable=True)

    def test_a_damaged_database(self, paths: LibraryPaths) -> None:
        opened = Database.open(paths, writable=True)
        for number in range(500):
            _add_folder(opened, b"folder %d" % number)
        opened.close()
        bytes_ = bytearray(paths.database.read_bytes())
        bytes_[4096 * 2 : 4096 * 6] = b"\xff" * (4096 * 4)
        paths.database.write_bytes(bytes_)
        with pytest.raises(LibraryError, match="damaged"):
            Database.open(paths, writable=True)

    def test_a_file_in_the_place_of_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "library").write_text("a file")
        with pytest.raises(LibraryError, match="no folder"):
            Database.open(LibraryPaths(tmp_path / "library"), writable=True)

    def test_writing_where_only_reading_was_asked_for(
        self, database: Database, paths: LibraryPaths
    ) -> None:
        reader = Database.open(paths, writable=False)
        with pytest.raises(LibraryError, match="reading only"):
            _add_folder(reader, b"x")
        reader.close()

    def test_a_read_only_folder_is_said_to_be_one_and_can_be_read(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        home.mkdir()
        paths = LibraryPaths(home / "library")
        with as_ordinary_user(home):
            opened = Database.open(paths, writable=True)
            _add_folder(opened, b"kept")
            opened.close()
            paths.database.chmod(0o400)
            paths.root.chmod(0o500)
            try:
                with pytest.raises(LibraryError, match="only be read"):
                    Database.open(paths, writable=True)
                reader = Database.open(paths, writable=False)
                assert _folders(reader) == [b"kept"]
                reader.close()
            finally:
                paths.root.chmod(0o700)


class TestMigrations:
    def test_a_step_that_fails_leaves_the_version_before(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        worse = (*migrations.MIGRATIONS, ("CREATE TABLE halfway (x)", "CREATE TABLE halfway (x)"))
        monkeypatch.setattr(migrations, "MIGRATIONS", worse)
        monkeypatch.setattr(migrations, "VERSION", len(worse))
        connection = database._connection()
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrations.migrate(connection)
        assert migrations.version(connection) == len(worse) - 1
        assert not connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE name = 'halfway'"
        ).fetchone()[0]

    def test_an_older_library_is_brought_up_to_date_and_keeps_its_rows(
        self, paths: LibraryPaths, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened = Database.open(paths, writable=True)
        _add_folder(opened, b"kept")
        opened.close()
        newer = (*migrations.MIGRATIONS, ("ALTER TABLE folders ADD COLUMN note TEXT",))
        monkeypatch.setattr(migrations, "MIGRATIONS", newer)
        monkeypatch.setattr(migrations, "VERSION", len(newer))
        with pytest.raises(LibraryError, match="older Refocal"):
            Database.open(paths, writable=False)
        opened = Database.open(paths, writable=True)
        with opened.read() as connection:
            assert connection.execute("SELECT path, note FROM folders").fetchall() == [
                (b"kept", None)
            ]
        opened.close()
