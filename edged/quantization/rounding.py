"""Round the weights of a quantized file such that the errors of the layers' outputs are small.

The tools of onnxruntime round each weight to its nearest step. Here the others of its row make up for the error,
as those of a compressed network do (`compress/compensation.py`); the scales stay.
"""

from collections.abc import Mapping

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from edged.compress.compensation import rounded_rows
from edged.compress.weights import Values

STEPS, SCALE = "_quantized", "_scale"  # the tools append these to the name of a weight
MOST = 127  # steps of a weight; its zero point is 0

Floats = NDArray[np.float64]


def round_weights(
    quantized: onnx.ModelProto, weights: Mapping[str, Values], moments: Mapping[str, Floats]
) -> None:
    """Replace the steps of each weight that has `moments`: of what a row multiplies, [inputs, inputs].

    weights: by name, [outputs, …], one scale for each output or one for all.
    """
    tensors = {tensor.name: tensor for tensor in quantized.graph.initializer}
    for name, moment in moments.items():
        if name + STEPS in tensors:  # else the layer stays in floats
            scale = numpy_helper.to_array(tensors[name + SCALE]).astype(np.float64)
            steps = _steps(weights[name], scale, moment)
            tensors[name + STEPS].CopyFrom(numpy_helper.from_array(steps, name + STEPS))


def _steps(values: Values, scale: Floats, moments: Floats) -> NDArray[np.int8]:
    def nearest(column: Floats) -> Floats:
        return np.asarray(np.clip(np.rint(column / scale), -MOST, MOST) * scale, np.float64)

    rounded = rounded_rows(values.reshape(len(values), -1), moments, nearest)
    return np.asarray(np.rint(rounded / scale.reshape(-1, 1)), np.int8).reshape(values.shape)
