"""Make Arrow arrays of Python values from their buffers. Needs pyarrow, an optional dependency.

`pyarrow.array`, and all that calls it, first imports pandas where that is installed, as it is with Ray: a third to
half of a processor second. Layout: Arrow's columnar format, https://arrow.apache.org/docs/format/Columnar.html.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray


def numbers(values: Sequence[float | None], kind: Any) -> Any:
    """Return an array of integers or floats of the Arrow type `kind`; None is null."""
    content = np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())
    return pyarrow.Array.from_buffers(kind, len(values), [_validity(values), pyarrow.py_buffer(content)])


def texts(values: Sequence[str | None]) -> Any:
    """Return an array of strings; None is null."""
    encoded = [(value or "").encode() for value in values]
    buffers = [_validity(values), _offsets(encoded), pyarrow.py_buffer(b"".join(encoded))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(values), buffers)


def structs(kind: Any, fields: Sequence[Any]) -> Any:
    """Return an array of the struct type `kind`, whose fields are arrays of one length."""
    return pyarrow.Array.from_buffers(kind, len(fields[0]), [None], children=list(fields))


def lists(kind: Any, values: Sequence[Sequence[object]], items: Any) -> Any:
    """Return an array of the list type `kind`. `items`: those of all lists, one after the other, as an array."""
    return pyarrow.Array.from_buffers(kind, len(values), [None, _offsets(values)], children=[items])


def _validity(values: Sequence[object]) -> Any:
    """Return the bitmap of what is not null; None where nothing is."""
    valid = [value is not None for value in values]
    return None if all(valid) else pyarrow.py_buffer(np.packbits(valid, bitorder="little"))


def _offsets(values: Sequence[Sequence[object] | bytes]) -> Any:
    lengths: NDArray[np.int32] = np.fromiter(chain((0,), map(len, values)), np.int32)
    return pyarrow.py_buffer(np.cumsum(lengths, dtype=np.int32))
