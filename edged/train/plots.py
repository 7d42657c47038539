"""Pictures of a training: loss and accuracy by epoch, the confusion matrix, sheets of examples.

Drawn with OpenCV, which every board has for its cameras: a few pictures are not worth a plotting library there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.train.results import Epoch

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


SIDE, CAPTION, GAP, ACROSS = 112, 40, 10, 8


def contact_sheet(
    pictures: Sequence[NDArray[np.uint8]], captions: Sequence[tuple[str, str]], across: int = ACROSS
) -> Picture:
    """uint8 RGB. pictures: one or more, uint8 [height, width, 3 (RGB) or 1]; all get the same longer side."""
    rows = ceil_div(len(pictures), across)
    across = min(across, len(pictures))
    sheet = np.full((GAP + rows * (SIDE + CAPTION + GAP), GAP + across * (SIDE + GAP), 3), 255, np.uint8)
    for index, (picture, lines) in enumerate(zip(pictures, captions, strict=True)):
        row, column = divmod(index, across)
        x, y = GAP + column * (SIDE + GAP), GAP + row * (SIDE + CAPTION + GAP)
        small = _fitted(picture)
        sheet[y : y + small.shape[0], x : x + small.shape[1]] = small
        for line, text in enumerate(lines):
            write(sheet, text[:15], (x, y + SIDE + 15 + 16 * line), size=0.42)
    return sheet


def _fitted(picture: NDArray[np.uint8]) -> Picture:
    """Resize so that the longer side is `SIDE`; small pictures show their pixels."""
    height, width = picture.shape[:2]
    scale = SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    how = cv2.INTER_NEAREST if scale >= 2 else cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = np.asarray(cv2.resize(np.ascontiguousarray(picture), size, interpolation=how), np.uint8)
    return np.broadcast_to(small.reshape(*small.shape[:2], -1), (*small.shape[:2], 3))


CELL, CELL_LEFT, CELL_TOP = 44, 130, 60
MOST = 40  # labels in a picture

Counts = NDArray[np.int64]


def confusion(truth: NDArray[np.int32], answers: NDArray[np.intp], classes: int) -> Counts:
    """[truth, answer]: how many pictures of each label got each answer."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (truth, answers), 1)
    return counts


def as_text(counts: Counts, labels: Sequence[str]) -> str:
    """A row a label, a column an answer, then the share that is right."""
    width = max(len(str(counts.max())), 4)
    names = [label[:12] for label in labels]
    head = " " * 13 + " ".join(f"{name[:width]:>{width}}" for name in names) + "  right"
    rows = [head]
    for name, row, right in zip(names, counts, np.diag(counts), strict=True):
        share = f"{100 * right / row.sum():5.1f} %" if row.sum() else "    -"
        rows.append(f"{name:>12} " + " ".join(f"{count or '.':>{width}}" for count in row) + f"  {share}")
    return "\n".join(rows)


def draw_confusion(counts: Counts, labels: Sequence[str]) -> Picture:
    """uint8 RGB, the darker the more of a row's pictures; of the first `MOST` labels."""
    counts, labels = counts[:MOST, :MOST], labels[:MOST]
    side = CELL * len(labels)
    paper = np.full((CELL_TOP + side + 20, CELL_LEFT + side + 20, 3), 255, np.uint8)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for row, column in np.ndindex(counts.shape):
        _cell(paper, row, column, float(shares[row, column]), int(counts[row, column]))
    for index, label in enumerate(labels):
        write(paper, label[:13], (8, CELL_TOP + index * CELL + 27))
        write(paper, label[:5], (CELL_LEFT + index * CELL + 4, CELL_TOP - 8), size=0.4)
    write(paper, "truth (rows), answer (columns)", (8, 20))
    return paper


def _cell(paper: Picture, row: int, column: int, share: float, count: int) -> None:
    x, y = CELL_LEFT + column * CELL, CELL_TOP + row * CELL
    full = np.array((0, 114, 178) if row == column else (213, 94, 0))
    tone = tuple(int(value) for value in 255 - (255 - full) * share**0.5)
    cv2.rectangle(paper, (x, y), (x + CELL - 2, y + CELL - 2), tone, -1)
    if count:
        color = (255, 255, 255) if share > 0.4 else (34, 34, 34)
        write(paper, str(count), (x + 4, y + 27), color, size=0.4)
