"""Weights in steps, rounded for the layer's outputs."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from edged.quantization.calibration import round_weights


def test_the_outputs_are_nearer_than_with_each_weight_rounded_to_its_nearest_step() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(size=(500, 3)) @ random.normal(size=(3, 16))  # they depend on each other
    moments = inputs.T @ inputs / len(inputs)
    weights = random.normal(size=(8, 16)).astype(np.float32)
    scale = (np.abs(weights).max(axis=1) / 7).astype(np.float32)  # few steps, so that rounding counts
    nearest = np.rint(weights / scale[:, np.newaxis]).astype(np.int8)
    model = quantized(nearest, scale)

    round_weights(model, {"w": weights}, {"w": moments})

    def error(steps: NDArray[Any]) -> float:
        return float(np.square(inputs @ (weights - steps * scale[:, np.newaxis]).T).mean())

    assert error(steps_in(model)) < 0.5 * error(nearest)
    assert np.abs(steps_in(model).astype(int) - nearest).max() <= 3


def test_a_layer_in_floats_stays_as_it_is() -> None:
    model = quantized(np.ones((2, 2), np.int8), np.ones(2, np.float32))
    before = model.SerializeToString()

    round_weights(model, {"other": np.ones((2, 2), np.float32)}, {"other": np.eye(2)})

    assert model.SerializeToString() == before


def quantized(steps: NDArray[Any], scale: NDArray[Any]) -> onnx.ModelProto:
    """A file with the weight `w` as the tools write it."""
    arrays = {"w_quantized": steps, "w_scale": scale}
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    return helper.make_model(helper.make_graph([], "none", [], [], tensors))


def steps_in(model: onnx.ModelProto) -> NDArray[Any]:
    return next(numpy_helper.to_array(t) for t in model.graph.initializer if t.name == "w_quantized")
