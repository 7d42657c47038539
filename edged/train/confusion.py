"""Which label was taken for which."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.train.curve import Picture, write

CELL, LEFT, TOP = 44, 130, 60
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
    paper = np.full((TOP + side + 20, LEFT + side + 20, 3), 255, np.uint8)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for row, column in np.ndindex(counts.shape):
        _cell(paper, row, column, float(shares[row, column]), int(counts[row, column]))
    for index, label in enumerate(labels):
        write(paper, label[:13], (8, TOP + index * CELL + 27))
        write(paper, label[:5], (LEFT + index * CELL + 4, TOP - 8), size=0.4)
    write(paper, "truth (rows), answer (columns)", (8, 20))
    return paper


def _cell(paper: Picture, row: int, column: int, share: float, count: int) -> None:
    x, y = LEFT + column * CELL, TOP + row * CELL
    full = np.array((0, 114, 178) if row == column else (213, 94, 0))
    tone = tuple(int(value) for value in 255 - (255 - full) * share**0.5)
    cv2.rectangle(paper, (x, y), (x + CELL - 2, y + CELL - 2), tone, -1)
    if count:
        color = (255, 255, 255) if share > 0.4 else (34, 34, 34)
        write(paper, str(count), (x + 4, y + 27), color, size=0.4)
