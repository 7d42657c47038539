"""Operators in NumPy for the reference implementation of `onnx`, whose GatherElements takes from 64 values."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator, op_run

Array = NDArray[Any]


class GatherElements(op_run.OpRun):
    """Take from `data` along an axis, at the indices of the same shape as the output."""

    op_domain = ""

    def _run(self, data: Array, indices: NDArray[np.int64], axis: int = 0) -> tuple[Array]:
        axis %= data.ndim
        sizes = (slice(None) if each == axis else slice(size) for each, size in enumerate(indices.shape))
        return (np.take_along_axis(data[tuple(sizes)], indices.astype(np.int64), axis),)


def evaluator(model: bytes) -> ReferenceEvaluator:
    """Return the reference implementation of a serialized model, with these operators in place of its own."""
    return ReferenceEvaluator(onnx.load_from_string(model), new_ops=[GatherElements])
