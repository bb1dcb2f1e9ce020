"""Passes through the network that one odd photo cannot stop."""

import logging
from collections.abc import Callable, Sequence

import numpy as np

from engine.errors import RefocalError
from engine.indexing.parts import Extractor, Features
from engine.types import PixelArray

_log = logging.getLogger(__name__)


class Passes:
    """Hands photos to a network that is loaded when the first ones come."""

    def __init__(self, extractor: Callable[[], Extractor]) -> None:
        self._load = extractor
        self._extractor: Extractor | None = None
        self._count = 0

    @property
    def count(self) -> int:
        """Photos that the network has seen."""
        return self._count

    @property
    def notes(self) -> tuple[str, ...]:
        """What the network has to say of how it went."""
        return () if self._extractor is None else tuple(self._extractor.notes)

    def extract(self, images: Sequence[PixelArray]) -> list[Features | str]:
        """The features of each photo, or the reason why it has none.

        If the network trips over several photos, they are given to it one by one, and only
        those that it cannot take go without. A network that takes none at all is broken, and its
        error is raised.

        Raises:
            RefocalError: the network or its device failed for good.
        """
        if not images:
            return []
        if self._extractor is None:
            self._extractor = self._load()
        try:
            return self._checked(self._extractor.extract(images))
        except RefocalError:
            raise
        except Exception as error:
            if len(images) == 1:
                if not self._count:
                    raise
                return [_refused(error)]
            return self._one_by_one(self._extractor, images, error)

    def _one_by_one(
        self, extractor: Extractor, images: Sequence[PixelArray], first: Exception
    ) -> list[Features | str]:
        told: list[Features | str] = []
        for image in images:
            try:
                told += self._checked(extractor.extract([image]))
            except RefocalError:
                raise
            except Exception as error:  # noqa: BLE001  (see above)
                told.append(_refused(error))
        if not self._count:
            raise first
        return told

    def _checked(self, features: Sequence[Features]) -> list[Features | str]:
        self._count += len(features)
        return [seen if _finite(seen) else "the network has no numbers for it" for seen in features]


def _refused(error: Exception) -> str:
    _log.warning("the network cannot take a photo", exc_info=error)
    return f"the network cannot take it ({type(error).__name__})"


def _finite(features: Features) -> bool:
    return bool(np.isfinite(features.descriptor).all() and np.isfinite(features.regions).all())
