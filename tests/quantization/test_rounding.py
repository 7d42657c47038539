"""Weights in steps, rounded for the layer's outputs."""

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from edged.quantization.calibration import RoundedWeights


def test_the_outputs_are_nearer_than_with_each_weight_rounded_to_its_nearest_step() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(size=(500, 3)) @ random.normal(size=(3, 16))  # they depend on each other
    moments = inputs.T @ inputs / len(inputs)
    weights = random.normal(size=(8, 16)).astype(np.float32)
    scale = (np.abs(weights).max(axis=1) / 7).astype(np.float32)  # few steps, so that rounding counts
    nearest = np.rint(weights / scale[:, np.newaxis]).astype(np.int8)
    model = quantized(nearest, scale)

    RoundedWeights({"w": weights}, {"w": moments}).replace_in(model)

    def error(steps: NDArray[Any]) -> float:
        return float(np.square(inputs @ (weights - steps * scale[:, np.newaxis]).T).mean())

    assert error(steps_in(model)) < 0.5 * error(nearest)
    assert np.abs(steps_in(model).astype(int) - nearest).max() <= 3


def test_a_layer_in_floats_stays_as_it_is() -> None:
    model = quantized(np.ones((2, 2), np.int8), np.ones(2, np.float32))
    before = model.SerializeToString()

    RoundedWeights({"other": np.ones((2, 2), np.float32)}, {"other": np.eye(2)}).replace_in(model)

    assert model.SerializeToString() == before


def test_a_weight_is_rounded_once_for_a_scale() -> None:
    weights = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
    rounded, scale = RoundedWeights({"w": weights}, {"w": np.eye(16)}), np.full(8, 0.1, np.float32)

    first = rounded.steps("w", scale)

    assert rounded.steps("w", scale.copy()) is first
    assert np.array_equal(first, np.rint(weights / scale[:, np.newaxis]))
    assert not np.array_equal(rounded.steps("w", 2 * scale), first)


def quantized(steps: NDArray[Any], scale: NDArray[Any]) -> onnx.ModelProto:
    """A file with the weight `w` as the tools write it."""
    arrays = {"w_quantized": steps, "w_scale": scale}
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    return helper.make_model(helper.make_graph([], "none", [], [], tensors))


def steps_in(model: onnx.ModelProto) -> NDArray[Any]:
    return next(numpy_helper.to_array(t) for t in model.graph.initializer if t.name == "w_quantized")
