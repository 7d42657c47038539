"""TIFF files written tag by tag, since no writer here chooses what alpha means."""

import struct
from typing import Literal

import numpy as np
from numpy.typing import NDArray

SHORT, LONG = 3, 4
UNSPECIFIED, MULTIPLIED, ALPHA = 0, 1, 2


def tiff_of(values: NDArray[np.generic], extra: int | None = None, order: Literal["<", ">"] = "<") -> bytes:
    """`values`: [height, width, channels], gray for one or two; `extra`: what the last channel means."""
    height, width, channels = values.shape
    sample_format = {"u": 1, "i": 2, "f": 3}[values.dtype.kind]
    data = values.astype(values.dtype.newbyteorder(order)).tobytes()
    tags: list[tuple[int, int, list[int]]] = [
        (256, LONG, [width]),
        (257, LONG, [height]),
        (258, SHORT, [8 * values.dtype.itemsize] * channels),
        (259, SHORT, [1]),  # not compressed
        (262, SHORT, [2 if channels > 2 else 1]),
        (273, LONG, [0]),  # the place of the data, known below
        (277, SHORT, [channels]),
        (278, LONG, [height]),
        (279, LONG, [len(data)]),
        *([] if extra is None else [(338, SHORT, [extra])]),
        (339, SHORT, [sample_format] * channels),
    ]
    place = 8 + 2 + 12 * len(tags) + 4
    longer = sum(
        len(packed(order, kind, numbers)) for _, kind, numbers in tags if len(packed(order, kind, numbers)) > 4
    )
    entries, behind = b"", b""
    for tag, kind, numbers in tags:
        value = packed(order, kind, [place + longer] if tag == 273 else numbers)
        entries += struct.pack(f"{order}HHI", tag, kind, len(numbers))
        if len(value) > 4:
            entries += struct.pack(f"{order}I", place + len(behind))
            behind += value
        else:
            entries += value.ljust(4, b"\0")
    head = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(f"{order}IH", 8, len(tags))
    return head + entries + bytes(4) + behind + data


def packed(order: str, kind: int, numbers: list[int]) -> bytes:
    return struct.pack(f"{order}{len(numbers)}{'H' if kind == SHORT else 'I'}", *numbers)
