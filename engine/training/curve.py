"""A training as a picture: the loss of every step and the mAP of held-out classes."""

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from engine.training.progress import History

SIZE = (960, 540)
_MARGIN = (70, 50, 70, 60)  # left, top, right, bottom
_PAPER, _INK, _FAINT = "#ffffff", "#33373d", "#dfe3e8"
_LOSS, _MAP = "#b4552d", "#2266a8"
_TICKS = 5

Points = Sequence[tuple[float, float]]


def drawn(history: History, *, steps: int) -> Image.Image:
    """The curve of a training of so many steps, as far as it has come.

    The loss is read on the left, the mAP on the right, both from 0 to 1 or to their largest.
    """
    image = Image.new("RGB", SIZE, _PAPER)
    pen = ImageDraw.Draw(image)
    losses = [(float(one.step), one.loss) for one in history.steps]
    maps = [(float(one.step), one.map) for one in history.steps if one.map is not None]
    if history.start is not None:
        maps.insert(0, (0.0, history.start))
    _frame(pen, steps)
    for points, colour, right in ((losses, _LOSS, False), (maps, _MAP, True)):
        top = max([value for _, value in points], default=1.0) * 1.1 or 1.0
        top = min(top, 1.0) if right else top
        _scale(pen, top, colour, right=right)
        _line(pen, points, steps, top, colour, dots=right)
    best = "" if history.best_map is None else f"   best mAP {history.best_map:.3f}"
    pen.text((_MARGIN[0], 16), "loss", _LOSS, _font(16))
    pen.text((_MARGIN[0] + 60, 16), f"mAP of held-out classes{best}", _MAP, _font(16))
    return image


def _frame(pen: ImageDraw.ImageDraw, steps: int) -> None:
    left, top, right, bottom = _area()
    for tick in range(_TICKS + 1):
        x = left + (right - left) * tick / _TICKS
        pen.line((x, top, x, bottom), _FAINT)
        pen.text((x, bottom + 10), f"{steps * tick / _TICKS:g}", _INK, _font(14), anchor="ma")
    pen.text(((left + right) / 2, bottom + 34), "step", _INK, _font(14), anchor="ma")


def _scale(pen: ImageDraw.ImageDraw, highest: float, colour: str, *, right: bool) -> None:
    left, top, end, bottom = _area()
    for tick in range(_TICKS + 1):
        y = bottom - (bottom - top) * tick / _TICKS
        if not right:
            pen.line((left, y, end, y), _FAINT)
        place = (end + 10, y) if right else (left - 10, y)
        anchor = "lm" if right else "rm"
        pen.text(place, f"{highest * tick / _TICKS:.2f}", colour, _font(14), anchor=anchor)


def _line(
    pen: ImageDraw.ImageDraw, points: Points, steps: int, highest: float, colour: str, *, dots: bool
) -> None:
    left, top, right, bottom = _area()
    places = [
        (left + (right - left) * step / steps, bottom - (bottom - top) * value / highest)
        for step, value in points
    ]
    if len(places) > 1:
        pen.line(places, colour, 2, joint="curve")
    for x, y in places if dots or len(places) == 1 else ():
        pen.ellipse((x - 3, y - 3, x + 3, y + 3), colour)


def _area() -> tuple[int, int, int, int]:
    return _MARGIN[0], _MARGIN[1], SIZE[0] - _MARGIN[2], SIZE[1] - _MARGIN[3]


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
