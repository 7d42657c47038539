"""Pictures of a training: the confusion matrix, sheets of examples.

Drawn with OpenCV, which every board has for its cameras: a few pictures are not worth a plotting library there.
"""

from collections.abc import Mapping, Sequence
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.drawing.chart import COLORS, Chart, LinearAxis
from edged.train.results import Epoch

Picture = NDArray[np.uint8]
Color = tuple[int, int, int]

INK = (34, 34, 34)
FAR = 4  # times the median: a loss beyond it is cut off
MOST_DOTS = 60

Lines = Mapping[str, Sequence[float]]  # a value of each epoch, by the pictures that it is of

SIDE, CAPTION, GAP, ACROSS = 112, 40, 10, 8
CELL, CELL_LEFT, CELL_TOP = 44, 130, 60
RIGHT, WRONG = (tuple(bytes.fromhex(color[1:])) for color in COLORS[:2])
MOST = 40  # labels in a picture
Counts = NDArray[np.int64]


def write(paper: Picture, text: str, place: tuple[int, int], color: Color = INK, size: float = 0.45) -> None:
    """Write `text` from `place`, its left end on the line; OpenCV has ASCII alone, others become '?'."""
    letters = text.encode("ascii", "replace").decode()
    cv2.putText(paper, letters, place, cv2.FONT_HERSHEY_SIMPLEX, size, color, 1, cv2.LINE_AA)


def contact_sheet(
    pictures: Sequence[NDArray[np.uint8]], captions: Sequence[tuple[str, str]], across: int = ACROSS
) -> Picture:
    """Return uint8 RGB. pictures: uint8 [height, width, 3 (RGB) or 1] each; all get the same longer side."""
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


def confusion(truth: NDArray[np.int32], answers: NDArray[np.intp], classes: int) -> Counts:
    """[truth, answer]: how many pictures of each label got each answer."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (truth, answers), 1)
    return counts


def as_text(counts: Counts, labels: Sequence[str]) -> str:
    """Format a row per label, a column per answer, then the share of correct answers."""
    width = max(len(str(counts.max())), 4)
    names = [label[:12] for label in labels]
    head = " " * 13 + " ".join(f"{name[:width]:>{width}}" for name in names) + "  right"
    rows = [head]
    for name, row, right in zip(names, counts, np.diag(counts), strict=True):
        share = f"{100 * right / row.sum():5.1f} %" if row.sum() else "    -"
        rows.append(f"{name:>12} " + " ".join(f"{count or '.':>{width}}" for count in row) + f"  {share}")
    return "\n".join(rows)


def draw_confusion(counts: Counts, labels: Sequence[str]) -> Picture:
    """Return uint8 RGB, darker for a larger share of a row's pictures; of the first `MOST` labels."""
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
    full = np.array(RIGHT if row == column else WRONG)
    tone = tuple(int(value) for value in 255 - (255 - full) * share**0.5)
    cv2.rectangle(paper, (x, y), (x + CELL - 2, y + CELL - 2), tone, -1)
    if count:
        color = (255, 255, 255) if share > 0.4 else INK
        write(paper, str(count), (x + 4, y + 27), color, size=0.4)


def loss_chart(history: Sequence[Epoch]) -> str:
    """Draw the loss by epoch as SVG. One far beyond the others is cut off at the top."""
    lines = _lines([one.loss for one in history], [one.validation_loss for one in history])
    every = [value for line in lines.values() for value in line]
    top = min(max(every), FAR * median(every)) or 1.0
    return _draw("Loss", LinearAxis("mean cross-entropy", 0.0, top), lines)


def accuracy_chart(history: Sequence[Epoch]) -> str:
    """Draw the share of right answers by epoch as SVG."""
    lines = _lines(
        [100 * one.accuracy for one in history],
        [one.validation_accuracy and 100 * one.validation_accuracy for one in history],
    )
    low = min(99.0, *(value for line in lines.values() for value in line))
    return _draw("Right answers", LinearAxis("%", low, 100.0), lines)


def _lines(learnt: Sequence[float], held_out: Sequence[float | None]) -> Lines:
    known = [value for value in held_out if value is not None]
    return {"training": learnt, **({"validation": known} if known else {})}


def _draw(title: str, y: LinearAxis, lines: Lines) -> str:
    epochs = max(map(len, lines.values()))
    chart = Chart(title, "", LinearAxis("epoch", 1, max(epochs, 2), least_step=1), y)
    legend = {}
    for (name, values), color in zip(lines.items(), COLORS, strict=False):
        points = [(epoch, min(value, y.high)) for epoch, value in enumerate(values, 1)]
        chart.line(points, color)
        for (epoch, height), value in zip(points, values, strict=True):
            if epochs <= MOST_DOTS or epoch == epochs:
                chart.dot((epoch, height), color, f"{name}, epoch {epoch}: {value:.4g}")
        legend[f"{name}: {values[-1]:.4g}"] = color
    chart.legend(legend)
    return chart.svg()
