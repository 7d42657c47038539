"""Gradients of every operator are the slopes that central differences find."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.model.activations import LINEAR, RELU, SIGMOID, Activation
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, MaxPool, Operator, Softmax
from edged.train.training_operators import Dropout, TrainedNorm, new_norm
from tests.train.reference.backward import backward, forward

Array = NDArray[Any]
RANDOM = np.random.default_rng(0)
STEP = 1e-5
IMAGES = (2, 4, 6, 5)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape, np.float32)


def conv(inputs: tuple[str, ...] = ("x",), groups: int = 1, kernel: tuple[int, int] = (3, 2), **how: Any) -> Conv:
    return Conv("conv", inputs, "y", normal(6, 4 // groups, *kernel), normal(6), groups=groups, **how)


def norm(relu: bool = False) -> TrainedNorm:
    return replace(
        new_norm("norm", "x", "y", 4), scale=normal(4), offset=normal(4), activation=RELU if relu else LINEAR
    )


def with_arrays(operator: Operator, arrays: dict[str, Any]) -> Operator:
    return replace(operator, **arrays)


CASES: dict[str, tuple[Operator, tuple[tuple[int, ...], ...]]] = {
    "conv": (conv(), (IMAGES,)),
    "strides and pads": (conv(strides=(2, 3), pads=(2, 1, 0, 1)), (IMAGES,)),
    "dilations": (conv(dilations=(2, 1), pads=(1, 0, 1, 2)), (IMAGES,)),
    "groups": (conv(groups=2, pads=(1, 1, 1, 1)), (IMAGES,)),
    "ReLU in conv": (conv(("x", "z"), activation=RELU), (IMAGES, (2, 6, 4, 4))),
    "dense": (Dense("dense", ("x",), "y", normal(5, 7), normal(5)), ((3, 7),)),
    "ReLU in dense": (Dense("dense", ("x",), "y", normal(5, 7), normal(5), activation=RELU), ((3, 7),)),
    "norm of images": (norm(), (IMAGES,)),
    "ReLU in norm": (norm(relu=True), (IMAGES,)),
    "norm of features": (norm(), ((5, 4),)),
    "max pool": (MaxPool("pool", ("x",), "y", (3, 2), (2, 1), (1, 1, 2, 0)), (IMAGES,)),
    "average pool": (AveragePool("pool", ("x",), "y", (3, 2), (2, 1), (1, 1, 2, 0)), (IMAGES,)),
    "padding counts": (AveragePool("p", ("x",), "y", (3, 3), (2, 2), (1, 1, 1, 1), True), (IMAGES,)),
    "global pool": (AveragePool("pool", ("x",), "y", (6, 5)), (IMAGES,)),
    "add": (Add("add", ("x", "z"), "y"), (IMAGES, IMAGES)),
    "ReLU in add": (Add("add", ("x", "z"), "y", activation=RELU), (IMAGES, IMAGES)),
    "ReLU": (Activate("relu", ("x",), "y", RELU), (IMAGES,)),
    "clip": (Activate("clip", ("x",), "y", Activation("clip", -0.5, 0.7)), (IMAGES,)),
    "sigmoid": (Activate("sigmoid", ("x",), "y", SIGMOID), (IMAGES,)),
    "dropout of images": (Dropout("dropout", ("x",), "y", 0.4, seed=3, step=2), (IMAGES,)),
    "dropout of features": (Dropout("dropout", ("x",), "y", 0.4, seed=3, step=2), ((5, 7),)),
    "flatten": (Flatten("flatten", ("x",), "y"), (IMAGES,)),
    "softmax": (Softmax("softmax", ("x",), "y"), ((3, 7),)),
}


def slopes(value: Callable[[Array], float], at: Array) -> Array:
    """By central differences."""
    found = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        there = np.zeros(at.shape)
        there[place] = STEP
        found[place] = (value(at + there) - value(at - there)) / (2 * STEP)
    return found


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_slopes(name: str) -> None:
    operator, shapes = CASES[name]
    arrays = {
        key: value.astype(np.float64) for key, value in vars(operator).items() if isinstance(value, np.ndarray)
    }
    operator = with_arrays(operator, arrays)
    inputs = [normal(*shape).astype(np.float64) for shape in shapes]
    output = forward(operator, *inputs)
    weights = RANDOM.standard_normal(output.shape)

    found = backward(operator, weights, output, *inputs)

    for i, x in enumerate(inputs):

        def of_input(value: Array, i: int = i) -> float:
            return float((forward(operator, *inputs[:i], value, *inputs[i + 1 :]) * weights).sum())

        np.testing.assert_allclose(found.inputs[i], slopes(of_input, x), rtol=1e-6, atol=1e-6)
    for key, gradient in found.arrays.items():

        def of_array(value: Array, key: str = key) -> float:
            return float((forward(with_arrays(operator, {key: value}), *inputs) * weights).sum())

        np.testing.assert_allclose(gradient, slopes(of_array, arrays[key]), rtol=1e-6, atol=1e-6)


def test_of_equal_ones_the_first_takes_all_of_a_maximum() -> None:
    pool = MaxPool("pool", ("x",), "y", (2, 2), (2, 2))
    x = np.array([[[[1.0, 5.0], [5.0, 5.0]]]])

    (found,) = backward(pool, np.ones((1, 1, 1, 1)), forward(pool, x), x).inputs

    assert found.tolist() == [[[[0, 1], [0, 0]]]]
