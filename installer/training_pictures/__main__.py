"""Composes the shipped network's training pictures, a folder = a class.

`python -m installer.training_pictures --openclipart DIR --grocery DIR --to OUT`
"""

import argparse
import logging
import sys
import time
from pathlib import Path

from installer.training_pictures.compose import Plan, compose

_log = logging.getLogger(__name__)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m installer.training_pictures", description=__doc__
    )
    parser.add_argument("--openclipart", type=Path, required=True, metavar="DIR",
                        help="where Debian's package openclipart-png is unpacked")  # fmt: skip
    parser.add_argument("--grocery", type=Path, required=True, metavar="DIR",
                        help="GroceryStoreDataset, a folder = a packaged product")  # fmt: skip
    parser.add_argument("--to", type=Path, required=True, metavar="OUT")
    parser.add_argument("--things", type=int, default=900, metavar="N",
                        help="classes of clip art")  # fmt: skip
    parser.add_argument("--solids", type=int, default=300, metavar="N",
                        help="classes of clip art on rendered bodies")  # fmt: skip
    parser.add_argument("--places", type=int, default=250, metavar="N", help="composed places")
    parser.add_argument("--rooms", type=int, default=28, metavar="N", help="rendered places")
    parser.add_argument("--views", type=int, default=6, metavar="N", help="of each thing and place")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for folder in (given.openclipart, given.grocery):
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    started = time.monotonic()
    plan = Plan(
        things=given.things,
        solids=given.solids,
        places=given.places,
        rooms=given.rooms,
        views=given.views,
        seed=given.seed,
    )
    try:
        made = compose(given.openclipart, given.grocery, given.to, plan)
    except (OSError, ValueError) as reason:
        parser.exit(1, f"{reason}\n")
    _log.info(
        "%d classes, %d pictures, %.0f s", made.classes, made.pictures, time.monotonic() - started
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
