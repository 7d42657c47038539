"""Compute nodes of ONNX that no kernel computes, by the reference implementation of the package `onnx`, in NumPy.

It is slow and right. `onnx` is imported by the first such node, so that other networks start without it.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import OnHost

if TYPE_CHECKING:
    from onnx.reference import ReferenceEvaluator

Array = NDArray[Any]


def on_host(operator: OnHost, *inputs: Array) -> Array:
    """Return the output of `operator`, [frames, *shape], in the type of its node, for inputs [frames, …]."""
    frames = zip(*inputs, strict=True)
    outputs = [_of_one_frame(operator, frame).reshape(operator.shape) for frame in frames]
    return np.stack(outputs)


def _of_one_frame(operator: OnHost, inputs: tuple[Array, ...]) -> Array:
    from onnx import helper

    evaluator = _evaluator(operator.model)
    feeds = {
        name: values.reshape(shape).astype(helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type))
        for name, kind, values, shape in zip(
            evaluator.input_names, evaluator.input_types, inputs, operator.reads, strict=True
        )
    }
    with np.errstate(all="ignore"):  # as a kernel does
        outputs: Any = evaluator.run(None, feeds)
    return np.asarray(outputs[0])


@lru_cache(maxsize=256)
def _evaluator(model: bytes) -> "ReferenceEvaluator":
    from edged.model.reference_operators import evaluator

    return evaluator(model)
