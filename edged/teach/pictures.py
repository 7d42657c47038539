"""Show crops: in a terminal, two pixels per character, or as one PNG."""

import os
from collections.abc import Mapping, Sequence
from typing import TextIO

import cv2
import numpy as np

from edged.arithmetic import ceil_div
from edged.teach.store_crop import Pixels

TILE, GAP, MARGIN = 64, 4, 24
PAPER, INK, HELD_BACK = 255, (0, 0, 0), (220, 60, 0)


def shows_colours(terminal: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal announces colours (COLORTERM), and the user has not disabled them (NO_COLOR)."""
    can = environment.get("COLORTERM", "") in {"truecolor", "24bit"} and not environment.get("NO_COLOR")
    return can and terminal.isatty() and (terminal.encoding or "").lower().replace("-", "") == "utf8"


def in_terminal(crop: Pixels, columns: int) -> list[str]:
    """Return rows of upper half blocks: the upper pixel in front, the lower one behind (ECMA-48, SGR)."""
    height, width, _ = crop.shape
    rows = max(1, round(columns * height / width / 2))
    small = cv2.resize(crop, (columns, 2 * rows), interpolation=cv2.INTER_AREA).tolist()
    return ["".join(map(_cell, small[2 * row], small[2 * row + 1])) + "\x1b[0m" for row in range(rows)]


def side_by_side(crops: Sequence[Pixels], columns: int) -> list[str]:
    """Return the columns side by side, each so wide, in as many rows as the highest has."""
    pictures = [in_terminal(crop, columns) for crop in crops]
    rows = max(map(len, pictures), default=0)
    filled = [picture + [" " * columns] * (rows - len(picture)) for picture in pictures]
    return [" ".join(parts) for parts in zip(*filled, strict=True)]


def contact_sheet(labels: Mapping[str, Sequence[tuple[Pixels, bool]]]) -> bytes:
    """Return a PNG: one or more rows for each label, its name above them; held-back crops have a frame."""
    sheet = np.concatenate([_rows(label, crops) for label, crops in labels.items()])
    return bytes(cv2.imencode(".png", cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))[1])


def _rows(label: str, crops: Sequence[tuple[Pixels, bool]], across: int = 12) -> Pixels:
    step = TILE + GAP
    down = ceil_div(len(crops), across)
    sheet = np.full((MARGIN + down * step, GAP + across * step, 3), PAPER, np.uint8)
    cv2.putText(sheet, label, (GAP, MARGIN - 7), cv2.FONT_HERSHEY_SIMPLEX, 0.5, INK, 1, cv2.LINE_AA)
    for index, (crop, held_back) in enumerate(crops):
        top, left = MARGIN + index // across * step, GAP + index % across * step
        sheet[top : top + TILE, left : left + TILE] = cv2.resize(crop, (TILE, TILE), interpolation=cv2.INTER_AREA)
        if held_back:
            cv2.rectangle(sheet, (left - 2, top - 2), (left + TILE + 1, top + TILE + 1), HELD_BACK, 2)
    return sheet


def _cell(upper: Sequence[int], lower: Sequence[int]) -> str:
    return f"\x1b[38;2;{upper[0]};{upper[1]};{upper[2]};48;2;{lower[0]};{lower[1]};{lower[2]}m▀"
