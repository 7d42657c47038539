"""The picture of how a training went: loss above, share of right answers below, an epoch a point.

Drawn with OpenCV, which every board has for its cameras: one picture is not worth a plotting library there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.train.history import Epoch

Picture = NDArray[np.uint8]
Color = tuple[int, int, int]

WIDTH, HEIGHT = 900, 340  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 90, 30, 46, 46
FINER = 2  # drawn so many times as large, then shrunk: smooth lines and letters
COLORS: Mapping[str, Color] = {"learnt from": (0, 114, 178), "held out": (213, 94, 0)}  # RGB; Okabe and Ito
INK, GRID = (34, 34, 34), (222, 222, 222)


def draw_curve(history: Sequence[Epoch]) -> Picture:
    """uint8 RGB [680, 900, 3]. A loss far beyond the others is cut off at the top."""
    losses = _lines(history, lambda one: one.loss, lambda one: one.validation_loss)
    accuracies = _lines(history, lambda one: one.accuracy, lambda one: one.validation_accuracy)
    shares = [value for line in accuracies.values() for value in line]
    every = [value for line in losses.values() for value in line]
    top = min(max(every), 4 * float(np.median(every)))
    panels = [
        _Panel("loss", len(history), 0.0, top or 1.0).draw(losses),
        _Panel("right answers, %", len(history), min(100 * min(shares), 99.0), 100.0).draw(
            {name: [100 * value for value in line] for name, line in accuracies.items()}
        ),
    ]
    return np.vstack(panels)


def _lines(
    history: Sequence[Epoch], learnt: Callable[[Epoch], float], held_out: Callable[[Epoch], float | None]
) -> dict[str, list[float]]:
    known = [value for value in map(held_out, history) if value is not None]
    return {"learnt from": [learnt(one) for one in history], **({"held out": known} if known else {})}


@dataclass(frozen=True)
class _Panel:
    """Axes: epochs 1 to `epochs`, values `low` to `high`."""

    title: str
    epochs: int
    low: float
    high: float

    def draw(self, lines: Mapping[str, Sequence[float]]) -> Picture:
        paper = np.full((HEIGHT * FINER, WIDTH * FINER, 3), 255, np.uint8)
        self._grid(paper)
        for index, (name, values) in enumerate(lines.items()):
            points = [self._place(epoch + 1, value) for epoch, value in enumerate(values)]
            cv2.polylines(paper, [np.array(points, np.int32)], False, COLORS[name], 2 * FINER, cv2.LINE_AA)
            for point in points if len(points) <= 60 else points[-1:]:
                cv2.circle(paper, point, 3 * FINER, COLORS[name], -1, cv2.LINE_AA)
            write(paper, f"{name}: {values[-1]:.4g}", (LEFT + 250 + 220 * index, 28), COLORS[name], FINER)
        write(paper, self.title, (LEFT, 28), INK, FINER, size=0.6)
        return np.asarray(cv2.resize(paper, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA), np.uint8)

    def _place(self, epoch: float, value: float) -> tuple[int, int]:
        along = (epoch - 1) / max(self.epochs - 1, 1)
        up = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        x, y = LEFT + along * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)
        return round(x * FINER), round(y * FINER)

    def _grid(self, paper: Picture) -> None:
        for value in _ticks(self.low, self.high):
            start, end = self._place(1, value), self._place(max(self.epochs, 2), value)
            cv2.line(paper, start, (max(end[0], (WIDTH - RIGHT) * FINER), end[1]), GRID, FINER)
            write(paper, f"{value:.4g}", (20, start[1] // FINER + 5), INK, FINER)
        for epoch in sorted({round(tick) for tick in _ticks(1, max(self.epochs, 2))}):
            if 1 <= epoch <= self.epochs:
                x, y = self._place(epoch, self.low)
                write(paper, f"{epoch}", (x // FINER - 5, y // FINER + 20), INK, FINER)
        write(paper, "epoch", (WIDTH // 2, HEIGHT - 8), INK, FINER)


def _ticks(low: float, high: float) -> list[float]:
    """Four to ten round numbers between them."""
    rough = (high - low) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [abs(float(index * step)) for index in np.arange(first, last + 1)]


def write(
    paper: Picture, text: str, place: tuple[int, int], color: Color = INK, finer: int = 1, size: float = 0.45
) -> None:
    """`text` from `place`, its left end on the line; letters beyond ASCII become '?', OpenCV has no others."""
    letters = text.encode("ascii", "replace").decode()
    at = (place[0] * finer, place[1] * finer)
    cv2.putText(paper, letters, at, cv2.FONT_HERSHEY_SIMPLEX, size * finer, color, finer, cv2.LINE_AA)
