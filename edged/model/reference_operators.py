"""Operators in NumPy for the reference implementation of `onnx`, whose GatherElements takes from 64 values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx.reference import op_run

Array = NDArray[Any]


class GatherElements(op_run.OpRun):
    """Take from `data` along an axis, at the indices of the same shape as the output."""

    op_domain = ""

    def _run(self, data: Array, indices: NDArray[np.int64], axis: int = 0) -> tuple[Array]:
        axis %= data.ndim
        sizes = (slice(None) if each == axis else slice(size) for each, size in enumerate(indices.shape))
        return (np.take_along_axis(data[tuple(sizes)], indices.astype(np.int64), axis),)


OPERATORS: list[type[op_run.OpRun]] = [GatherElements]
