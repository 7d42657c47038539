"""Frigate's detector protocol over ZeroMQ, as values: requests as they arrive, and the answers to them.

A request asks for a model (`model_request`), brings one (`model_data`), or is a picture: a header with shape and
dtype, and the numbers. The answer to a picture is a header and 20 rows of class, score, top, left, bottom, right,
in float32. They are sorted by score, since Frigate stops at the first one below its threshold.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import msgspec
import numpy as np
import zmq
from numpy.typing import NDArray

from edged.camera.served.refusals import RefusedRequestError
from edged.messages import Box
from edged.messages.message import INVALID_JSON, Content
from edged.pictures.prepare import Pixels

ROWS, COLUMNS = 20, 6
ITEM_BYTES = {"uint8": 1, "float32": 4}
HEADER = msgspec.json.encode({"shape": [ROWS, COLUMNS], "dtype": "float32"})
LARGEST_HEADER = 4096  # bytes, far more than Frigate sends


@dataclass(frozen=True)
class ModelQuery:
    """Frigate asks whether a model is there and loaded. `name`: of its file."""

    name: str


@dataclass(frozen=True)
class ModelUpload:
    """Frigate sends the file of a model."""

    name: str
    data: zmq.Frame


@dataclass(frozen=True, eq=False)
class FrigatePicture:
    """A picture as Frigate sends it, in RGB: [1, height, width, 3] or [1, 3, height, width]."""

    shape: tuple[int, ...]
    dtype: str
    data: zmq.Frame

    @property
    def size(self) -> tuple[int, int]:
        """Return height and width."""
        _, *sides = self.shape
        return (sides[0], sides[1]) if sides[2] == 3 else (sides[1], sides[2])

    def values(self) -> NDArray[np.uint8] | NDArray[np.float32]:
        """Return the numbers as they came, [height, width, 3]."""
        numbers: NDArray[np.uint8] | NDArray[np.float32]
        numbers = np.frombuffer(self.data.buffer, np.dtype(self.dtype)).reshape(self.shape[1:])
        return numbers if self.shape[3] == 3 else numbers.transpose(1, 2, 0)


class _Header(Content, frozen=True):
    model_request: bool = False
    model_data: bool = False
    model_name: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""


def read_request(parts: Sequence[zmq.Frame]) -> ModelQuery | ModelUpload | FrigatePicture:
    """Return what these parts of a message are. Raises RefusedRequestError."""
    header = _header(parts)
    if header.model_request and len(parts) == 1:
        return ModelQuery(header.model_name)
    if len(parts) != 2:
        raise RefusedRequestError(
            "parts", f"expected a header and the numbers of a picture, found {len(parts)} parts"
        )
    if header.model_data:
        return ModelUpload(header.model_name, parts[1])
    return _picture(header, parts[1])


def _header(parts: Sequence[zmq.Frame]) -> _Header:
    if not parts:
        raise RefusedRequestError("parts", "expected a header in JSON, found an empty message")
    if len(parts[0]) > LARGEST_HEADER:
        raise RefusedRequestError(
            "header", f"expected a header in JSON, found {len(parts[0])} bytes of something else"
        )
    try:
        return msgspec.json.decode(parts[0].buffer, type=_Header)
    except INVALID_JSON as error:
        raise RefusedRequestError("header", f"expected a header in JSON with shape and dtype: {error}") from None


def _picture(header: _Header, data: zmq.Frame) -> FrigatePicture:
    shape, dtype = header.shape, header.dtype
    if dtype not in ITEM_BYTES:
        found = dtype[:20] or "none"
        raise RefusedRequestError(
            "dtype", f"expected dtype uint8 or float32, found {found!r}: set model.input_dtype"
        )
    if len(shape) != 4 or shape[0] != 1 or 3 not in (shape[1], shape[3]) or min(shape) < 1:
        expected = "[1, height, width, 3] or [1, 3, height, width]"
        raise RefusedRequestError("header", f"expected shape {expected}, found {list(shape[:8])}")
    if prod(shape) * ITEM_BYTES[dtype] != len(data):
        raise RefusedRequestError(
            "header", f"the header says {list(shape)} of {dtype}, but {len(data)} bytes follow: nothing was read"
        )
    return FrigatePicture(shape, dtype, data)


class PixelScale:
    """Makes pixels of 0 to 255 of a client's numbers.

    Floats are 0 to 1 or 0 to 255, as Frigate's config has it: the first picture that shows which decides for all.
    """

    def __init__(self) -> None:
        self._factor: float | None = None

    def pixels(self, picture: FrigatePicture) -> Pixels:
        """Return uint8 [height, width, 3], C-contiguous. Raises RefusedRequestError for another scale."""
        values = picture.values()
        if values.dtype == np.uint8:
            return np.ascontiguousarray(values, np.uint8)
        least, most = float(values.min()), float(values.max())
        if not (least >= 0 and most <= 255):  # nor NaN
            raise RefusedRequestError(
                "values", f"expected floats from 0 to 1 or to 255, found {least:g} to {most:g}"
            )
        if self._factor is None:
            self._factor = _factor(np.asarray(values, np.float32), most)
        if self._factor == 255 and most > 1:
            raise RefusedRequestError("values", f"expected floats from 0 to 1 as before, found {most:g}")
        return np.ascontiguousarray(np.rint(values * np.float32(self._factor or 1)), np.uint8)


def _factor(values: NDArray[np.float32], most: float) -> float | None:
    """Return 1 for 0 to 255, 255 for 0 to 1; None of a picture that only has 0 and 1."""
    if most > 1:
        return 1.0
    return 255.0 if ((values > 0) & (values < 1)).any() else None


def rows_of(boxes: Iterable[Box]) -> bytes:
    """Return the rows of the best boxes, zeros after them: 480 bytes, float32 [20, 6]."""
    best = sorted(boxes, key=lambda box: -box.score)[:ROWS]
    rows = np.zeros((ROWS, COLUMNS), np.float32)
    for row, box in zip(rows, best, strict=False):
        left, top, right, bottom = np.clip(box.box, 0.0, 1.0)
        row[:] = box.index, box.score, top, left, bottom, right
    return rows.tobytes()


NOTHING = rows_of(())
