"""The photo files of a downloaded set, by the bare names that its ground truth gives them."""

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from engine.catalogue.walk import FoundFile, walk
from engine.errors import GroundTruthError
from engine.evaluation.checks import shown

_INNER = "jpg/"


class PhotoFiles:
    """Those in the folder ``jpg`` with its sub-folders or, without one, in the whole folder.

    Links are not followed, as no indexing follows them.
    """

    def __init__(self, folder: Path) -> None:
        """
        Raises:
            GroundTruthError: the folder cannot be read.
        """
        self._folder = folder
        try:
            found = [
                os.fsdecode(one.relpath)
                for one in walk(folder, below=b"", avoid=frozenset())
                if isinstance(one, FoundFile)
            ]
        except OSError as error:
            raise GroundTruthError(f"{folder} cannot be read: {error.strerror}") from error
        self.all = tuple([name for name in found if name.startswith(_INNER)] or found)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in self.all:
            self._by_name[PurePosixPath(path).stem].append(path)

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """The path of each of these photos, relative to the folder.

        Raises:
            GroundTruthError: some are not there, or one is there twice.
        """
        wanted = dict.fromkeys(names)
        missing = [name for name in wanted if name not in self._by_name]
        if missing:
            count = f"{len(missing)} of the {len(wanted)} photos"
            first = shown(missing[0])
            raise GroundTruthError(f"{self._folder} lacks {count} of its ground truth: {first}")
        for name in wanted:
            if len(self._by_name[name]) > 1:
                places = " and ".join(self._by_name[name][:2])
                raise GroundTruthError(f"{self._folder} has {shown(name)} twice: {places}")
        return {name: self._by_name[name][0] for name in wanted}
