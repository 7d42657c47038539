"""The reference on numbers that can be checked by hand; `test_onnx_operators` compares it with onnxruntime."""

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.activations import RELU, Activation
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    BatchNorm,
    Combine,
    Concat,
    Conv,
    Dense,
    GroupNorm,
    LayerNorm,
    LocalResponseNorm,
    MaxPool,
    Operator,
    ReduceChannels,
    SelectChannels,
    Softmax,
)
from edged.model.package import Input
from edged.model.shapes import make_graph

IMAGE = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)


def run(operator: Operator) -> list[float]:
    graph = make_graph("test", "input", (1, 3, 3), [operator])
    return [float(value) for value in reference.run(graph, IMAGE)[0]]


def test_convolution_slides_the_window_without_turning_it() -> None:
    weight = np.array([[[[0, 0], [0, 1]]]], np.float32)
    bias = np.array([0.5], np.float32)

    assert run(Conv("conv", ("input",), "y", weight, bias)) == [4.5, 5.5, 7.5, 8.5]


def test_convolution_adds_the_residual_before_relu() -> None:
    weight, bias = np.full((1, 1, 1, 1), -2, np.float32), np.array([3], np.float32)

    y = run(Conv("conv", ("input", "input"), "y", weight, bias, activation=RELU))

    assert y == [3, 2, 1, 0, 0, 0, 0, 0, 0]


FIVE = np.arange(1, 6, dtype=np.float32)


@pytest.mark.parametrize(
    "operator",
    [
        *(Combine(kind, ("x",), "y", kind, FIVE) for kind in reference.COMBINATIONS),
        Combine("reversed", ("x",), "y", "subtract", FIVE, is_reversed=True),
        Combine("one number", ("x",), "y", "multiply", FIVE[:1]),
        Combine("both computed", ("x", "x"), "y", "multiply"),
        Activate("activate", ("x",), "y", RELU),
        Add("add", ("x", "x"), "y"),
        BatchNorm("norm", ("x",), "y", FIVE, FIVE),
        Concat("concat", ("x", "x"), "y"),
        GroupNorm("groups", ("x",), "y", 1, FIVE, FIVE),
        LayerNorm("layer", ("x",), "y", FIVE, FIVE),
        LocalResponseNorm("local", ("x",), "y", 3),
        ReduceChannels("mean", ("x",), "y", "mean"),
        SelectChannels("select", ("x",), "y", (4, 0)),
        Softmax("softmax", ("x",), "y"),
    ],
    ids=lambda operator: operator.name,
)
def test_features_are_the_channels_of_a_single_pixel(operator: Operator) -> None:
    features = np.random.default_rng(3).random((2, 5))
    pixels = features[:, :, np.newaxis, np.newaxis]

    of_features = reference.compute(operator, *(features for _ in operator.inputs))
    of_pixels = reference.compute(operator, *(pixels for _ in operator.inputs))

    assert np.allclose(of_pixels, of_features[:, :, np.newaxis, np.newaxis], rtol=1e-12)


@pytest.mark.parametrize(
    ("operator", "values"),
    [
        (Activate("reciprocal", ("input",), "y", Activation("reciprocal")), (np.inf, 1.0)),
        (Activate("log", ("input",), "y", Activation("log")), (-np.inf, 0.0)),
        (Combine("divide", ("input",), "y", "divide", np.zeros((1, 1, 1), np.float32)), (np.nan, np.inf)),
        (BatchNorm("twice", ("input",), "y", np.array([3e38], np.float32), np.zeros(1, np.float32)), (0.0, 3e38)),
    ],
    ids=lambda value: value.name if isinstance(value, Operator) else None,
)
def test_what_is_infinite_is_an_answer_without_a_warning(operator: Operator, values: tuple[float, float]) -> None:
    assert np.array_equal(run(operator)[:2], np.array(values, np.float32), equal_nan=True)


def test_padding_never_wins_a_maximum() -> None:
    pool = MaxPool("pool", ("input",), "y", (2, 2), (2, 2), (1, 1, 0, 0))

    graph = make_graph("test", "input", (1, 3, 3), [pool])

    assert reference.run(graph, -IMAGE).tolist() == [[0, -1, -3, -4]]


def test_padding_counts_in_a_mean_only_when_it_is_asked_to() -> None:
    def mean(counted: bool) -> list[float]:
        return run(AveragePool("pool", ("input",), "y", (3, 3), (3, 3), (1, 1, 1, 1), counted))

    assert mean(False) == [2.0]
    assert mean(True) == [pytest.approx(8 / 9)]


def test_softmax_stays_finite_for_large_scores() -> None:
    graph = make_graph("test", "input", (3,), [Softmax("softmax", ("input",), "y")])

    scores = reference.run(graph, np.array([[1000, 1000, 0]], np.float32))

    assert scores.tolist() == [[0.5, 0.5, 0]]


def test_every_tensor_can_be_looked_at() -> None:
    dense = Dense("dense", ("input",), "x", np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    graph = make_graph("test", "input", (3,), [dense, Add("add", ("x", "input"), "y")])

    tensors = reference.run_all(graph, np.ones((2, 3), np.float32), np.float64)

    assert tensors["y"].tolist() == [[2, 2, 2]] * 2
    assert tensors["y"].dtype == np.float64


def test_pixels_become_what_the_network_wants() -> None:
    images = np.zeros((2, 4, 5, 3), np.uint8)
    images[:, 1, 2] = (255, 51, 0)  # red, green, blue
    wants = Input(5, 4, "bgr", 1 / 255, mean=(0.0, 0.1, 0.5), std=(1.0, 0.1, 0.25))

    x = reference.prepare(images, wants)

    assert x.shape == (2, 3, 4, 5)
    assert x.dtype == np.float32
    assert x.flags.c_contiguous
    np.testing.assert_allclose(x[1, :, 1, 2], [0, 1, 2], atol=1e-6)
    np.testing.assert_allclose(x[0, :, 0, 0], [0, -1, -2], atol=1e-6)


def test_operators_that_do_not_fit_are_named() -> None:
    weight, bias = np.zeros((4, 2, 3, 3), np.float32), np.zeros(4, np.float32)
    with pytest.raises(ModelError, match=r"operator stem \(Conv\) has weights .* do not fit 1 input channels"):
        run(Conv("stem", ("input",), "y", weight, bias))
    with pytest.raises(ModelError, match="the input size is too small for it"):
        run(MaxPool("pool", ("input",), "y", (4, 4)))
    with pytest.raises(ModelError, match=r"pads .* are not smaller than its window"):
        run(MaxPool("pool", ("input",), "y", (2, 2), (1, 1), (2, 0, 0, 0)))


def test_a_gray_network_sees_luma_and_gray_pixels_as_they_are() -> None:
    gray = np.arange(256, dtype=np.uint8).reshape(1, 16, 16, 1)
    colours = np.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (10, 200, 30)], np.uint8)
    wants = Input(16, 16, "gray", 0.5, mean=(1.0,), std=(2.0,))

    assert np.array_equal(reference.luma(gray.repeat(3, axis=3)), gray)
    assert reference.luma(colours)[:, 0].tolist() == [76, 150, 29, 124]
    x = reference.prepare(gray.repeat(3, axis=3), wants)
    np.testing.assert_allclose(x[0, 0], (gray[0, ..., 0] * 0.5 - 1) / 2)
