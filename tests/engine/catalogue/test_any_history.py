"""Any history of a disk: files come, go, move, are copied and edited, folders vanish and return."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from engine.catalogue.identify import unread_count
from engine.catalogue.photos import by_path
from engine.catalogue.roots import resolve
from engine.catalogue.work import needs_work
from engine.types import PhotoState
from tests.fakes.painted import paint
from tests.fakes.small_library import NETWORK, SmallLibrary

_CONTENTS = st.integers(0, 4)
_PLACES = st.sampled_from(
    [
        f"{root}/{folder}{name}.bmp"
        for root in ("one", "two")
        for folder in ("", "sub/")
        for name in "ab"
    ]
)


class AnyHistory(RuleBasedStateMachine):
    """After every run of the job the library says of each file that can be reached what it is;
    one content is one photo for ever, and the network sees it once."""

    def __init__(self) -> None:
        super().__init__()
        self._ground = TemporaryDirectory()
        self._disk = Path(self._ground.name)
        self._library = SmallLibrary(self._disk / "library")
        self._photo_of: dict[bytes, int] = {}
        self._passes = 0

    @initialize()
    def begin(self) -> None:
        for root in ("one", "two"):
            paint(self._disk / root / "first.bmp", 0)
            self._library.index(self._disk / root)
        self._photo_of[(self._disk / "one" / "first.bmp").read_bytes()] = 1
        self._passes = 1

    @rule(place=_PLACES, content=_CONTENTS)
    def write(self, place: str, content: int) -> None:
        if (self._disk / place.split("/")[0]).exists():
            paint(self._disk / place, content, w=8, h=8)

    @rule(place=_PLACES)
    def delete(self, place: str) -> None:
        (self._disk / place).unlink(missing_ok=True)

    @rule(source=_PLACES, goal=_PLACES, keep=st.booleans())
    def move_or_copy(self, source: str, goal: str, keep: bool) -> None:
        there = (self._disk / goal.split("/")[0]).exists()
        if (self._disk / source).exists() and there and source != goal:
            (self._disk / goal).parent.mkdir(exist_ok=True)
            if keep:
                shutil.copy2(self._disk / source, self._disk / goal)
            else:
                (self._disk / source).replace(self._disk / goal)

    @rule(root=st.sampled_from(["one", "two"]))
    def unplug_or_plug(self, root: str) -> None:
        here, aside = self._disk / root, self._disk / f"{root} unplugged"
        if here.exists():
            here.rename(aside)
        else:
            aside.rename(here)

    @rule(which=st.sampled_from([(), ("one",), ("two",)]))
    def index(self, which: tuple[str, ...]) -> None:
        roots = [self._disk / name for name in which or ("one", "two")]
        report = self._library.index(*(self._disk / name for name in which))
        self._passes += report.passes
        files = [path for root in roots for path in root.rglob("*.bmp")]
        assert report.found == len(files)
        assert report.failed == 0
        assert report.found == report.indexed + report.unchanged + report.copies
        for path in files:
            photo_id = by_path(self._library.database, path)
            assert photo_id is not None
            assert self._photo_of.setdefault(path.read_bytes(), photo_id) == photo_id
        assert len(set(self._photo_of.values())) == len(self._photo_of) == self._passes
        self._judge(which)

    def _judge(self, which: tuple[str, ...]) -> None:
        database = self._library.database
        assert self._library.problems() == ()
        assert list(needs_work(database, NETWORK.key, scopes=resolve(database, []))) == []
        if not which:
            assert unread_count(database, resolve(database, [])) == 0 or any(
                not (self._disk / root).exists() for root in ("one", "two")
            )
            for photo in self._library.photos():
                assert photo.path.exists() == (photo.state is PhotoState.READY)

    def teardown(self) -> None:
        self._library.close()
        self._ground.cleanup()


TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
