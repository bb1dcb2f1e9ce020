"""The arithmetic of a grid of equal tiles: no Qt, no state."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GridGeometry:
    """All in device independent pixels; y counts from the top of the margin over the first line."""

    rows: int
    columns: int
    tile_width: int
    tile_height: int
    gap: int
    margin: int

    @property
    def step(self) -> int:
        """From one line of tiles to the next."""
        return self.tile_height + self.gap

    @property
    def height(self) -> int:
        """Of everything."""
        lines = -(-self.rows // self.columns)
        return 2 * self.margin + max(0, lines * self.step - self.gap)

    def tile(self, row: int) -> tuple[int, int, int, int]:
        """Left, top, width and height of a row's tile."""
        line, column = divmod(row, self.columns)
        left = self.margin + column * (self.tile_width + self.gap)
        return left, self.margin + line * self.step, self.tile_width, self.tile_height

    def row_at(self, x: int, y: int) -> int | None:
        """The row whose tile holds the point."""
        line, in_line = divmod(y - self.margin, self.step)
        column, in_column = divmod(x - self.margin, self.tile_width + self.gap)
        row = line * self.columns + column
        on_tile = in_line < self.tile_height and in_column < self.tile_width
        if on_tile and line >= 0 and 0 <= column < self.columns and row < self.rows:
            return row
        return None

    def rows_between(self, top: int, bottom: int) -> range:
        """The rows of the lines that touch [top, bottom)."""
        first = max(0, (top - self.margin) // self.step) * self.columns
        last = -(-(bottom - self.margin) // self.step) * self.columns
        return range(min(first, self.rows), max(0, min(last, self.rows)))

    def rows_within(self, rect: tuple[int, int, int, int]) -> list[int]:
        """The rows whose tiles touch a rectangle: left, top, right, bottom (exclusive)."""
        left, top, right, bottom = rect
        found = []
        for row in self.rows_between(top, bottom):
            x, y, width, height = self.tile(row)
            if x < right and x + width > left and y < bottom and y + height > top:
                found.append(row)
        return found


def columns_and_width(width: int, tile: int, *, gap: int, margin: int) -> tuple[int, int]:
    """How many tiles of at least ``tile`` fit into a width, and how wide they are then: what is
    left over widens all of them."""
    room = width - 2 * margin + gap
    columns = max(1, room // (tile + gap))
    return columns, max(1, room // columns - gap)
