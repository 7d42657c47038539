"""A chart as SVG: lines, dots with a tooltip each, labels that do not overlap; axes are logarithmic or linear.

Our own few lines, since a board should not need a plotting library for one picture.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Protocol

COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#555555",
)  # Okabe and Ito: also for colour-blind readers
WIDTH, HEIGHT = 900, 560
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 60, 110  # margins of the plot
FONT = 12
LETTER = 0.56 * FONT  # average width of a character
CLOSE = 1e-9  # a quotient that misses a whole number by less is one

Point = tuple[float, float]
Box = tuple[float, float, float, float]


def round_numbers(low: float, high: float) -> Iterator[tuple[float, int]]:
    """Yield 1, 2 and 5 of each decade from `low`, above 0, to `high`, each with that digit."""
    for decade in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for digit in (1, 2, 5):
            if low <= (value := digit * 10.0**decade) <= high:
                yield value, digit


class Axis(Protocol):
    """Values from `low` to `high`, with a label."""

    @property
    def label(self) -> str:
        """Say what the values are, with their unit."""

    @property
    def low(self) -> float:
        """Return the value at the start."""

    def share(self, value: float) -> float:
        """Return how far along the axis `value` lies: 0 at `low`, 1 at `high`."""

    def ticks(self) -> Iterator[tuple[float, bool]]:
        """Yield round numbers, and whether to write each."""


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis; `low` and `high` are above 0."""

    label: str
    low: float
    high: float

    def share(self, value: float) -> float:
        """Return how far along the axis `value` lies: 0 at `low`, 1 at `high`."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> Iterator[tuple[float, bool]]:
        """Yield 1, 2 and 5 of each decade: all are written on a short axis, else the ones alone."""
        is_short = math.ceil(math.log10(self.high)) - math.floor(math.log10(self.low)) <= 3
        for value, digit in round_numbers(self.low, self.high):
            yield value, is_short or digit == 1


@dataclass(frozen=True)
class LinearAxis:
    """A linear axis. `least_step`: between two ticks, as 1 where values are whole numbers."""

    label: str
    low: float
    high: float
    least_step: float = 0.0

    def share(self, value: float) -> float:
        """Return how far along the axis `value` lies: 0 at `low`, 1 at `high`."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> Iterator[tuple[float, bool]]:
        """Yield three to seven multiples of a round number; all are written."""
        rough = max(self.least_step, (self.high - self.low) / 5)
        step, _ = next(round_numbers(rough * (1 - CLOSE), 10 * rough))
        first, last = math.ceil(self.low / step - CLOSE), math.floor(self.high / step + CLOSE)
        for number in range(first, last + 1):
            yield number * step, True


class Chart:
    """The elements of a chart in drawing order. Points are in the units of the axes."""

    def __init__(self, title: str, subtitle: str, x: Axis, y: Axis) -> None:
        self._x, self._y = x, y
        self._taken: list[Box] = []
        self._elements = [_text(LEFT, 24, title, size=FONT + 4), _text(LEFT, 44, subtitle, color="#555")]
        self._elements += [*self._grid()]

    def line(self, points: Sequence[Point], color: str = "#222", dashed: bool = False) -> None:
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self._to_pixels, points))
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        line = f'<polyline points="{corners}" fill="none" stroke="{color}" stroke-width="2"{dash}/>'
        self._elements.append(line)
        for start, end in pairwise(map(self._to_pixels, points)):
            self._taken += _along(start, end)

    def dot(self, point: Point, color: str, tooltip: str, radius: float = 4) -> None:
        """Draw a dot; a browser shows `tooltip` under the pointer."""
        x, y = self._to_pixels(point)
        self._taken.append((x - radius, y - radius, x + radius, y + radius))
        self._elements.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{color}" fill-opacity="0.7" stroke="white">'
            f"<title>{escape(tooltip)}</title></circle>"
        )

    def label(self, point: Point, text: str) -> None:
        """Write `text` near `point` where it overlaps nothing; left out if there is no room.

        Draw all dots first.
        """
        x, y = self._to_pixels(point)
        width = len(text) * LETTER
        for dx, dy in _places_around(width):
            box = (x + dx, y + dy - FONT, x + dx + width, y + dy + 3)
            fits = box[0] >= LEFT and box[1] >= TOP and box[2] <= WIDTH - RIGHT and box[3] <= HEIGHT - BOTTOM
            if fits and not any(_overlap(box, other) for other in self._taken):
                self._taken.append(box)
                near_x, near_y = min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])
                self._elements.append(f'<path d="M{x:.1f} {y:.1f}L{near_x:.1f} {near_y:.1f}" stroke="#888"/>')
                self._elements.append(_text(box[0], y + dy, text))
                return

    def legend(self, colors: Mapping[str, str], note: str = "") -> None:
        """Draw a row of names under the chart, and a line under that."""
        self._elements.append(_text(LEFT, HEIGHT - 10, note, color="#555"))
        x = float(LEFT)
        for name, color in colors.items():
            self._elements.append(f'<circle cx="{x + 5:.1f}" cy="{HEIGHT - 38}" r="5" fill="{color}"/>')
            self._elements.append(_text(x + 15, HEIGHT - 34, name))
            x += 40 + len(name) * LETTER

    def svg(self) -> str:
        """Return the chart as the text of an SVG file."""
        size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        font = f'font-family="sans-serif" font-size="{FONT}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
        paper = '<rect width="100%" height="100%" fill="white"/>'
        return "\n".join([head, paper, *self._elements, "</svg>", ""])

    def _to_pixels(self, point: Point) -> Point:
        x, y = self._x.share(point[0]), self._y.share(point[1])
        return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)

    def _grid(self) -> Iterator[str]:
        right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM
        for value, written in self._x.ticks():
            x, _ = self._to_pixels((value, self._y.low))
            yield f'<path d="M{x:.1f} {TOP}V{floor}" stroke="#e4e4e4"/>'
            yield _text(x, floor + 18, f"{value:g}", anchor="middle") if written else ""
        for value, written in self._y.ticks():
            _, y = self._to_pixels((self._x.low, value))
            yield f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>'
            yield _text(LEFT - 8, y + 4, f"{value:g}", anchor="end") if written else ""
        yield f'<path d="M{LEFT} {TOP}V{floor}H{right}" fill="none" stroke="#222"/>'
        yield _text((LEFT + right) / 2, floor + 40, self._x.label, anchor="middle")
        middle = (TOP + floor) / 2
        turned = f'transform="rotate(-90 20 {middle})"'
        yield f'<text x="20" y="{middle}" text-anchor="middle" {turned}>{escape(self._y.label)}</text>'


def _text(x: float, y: float, text: str, *, size: int = FONT, color: str = "#222", anchor: str = "start") -> str:
    attributes = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}"'
    return f"<text {attributes}>{escape(text)}</text>"


def _places_around(width: float) -> Iterator[Point]:
    """Yield positions for a text around its dot: right, left, above and below, first near, then farther away."""
    for away in (10, 18, 28):
        yield from ((away, 4), (-away - width, 4), (away, -away), (away, away + 6))
        yield from ((-away - width, -away), (-away - width, away + 6), (-width / 2, -away), (-width / 2, away + 8))


def _along(start: Point, end: Point) -> Iterator[Box]:
    """Return boxes that cover a line."""
    steps = max(1, int(math.dist(start, end) / 4))
    for step in range(steps + 1):
        x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
        yield x - 3, y - 3, x + 3, y + 3


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
