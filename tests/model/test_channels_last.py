"""Files with their channels last, as Keras and tf2onnx write them: how edged recognises and computes them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import Conv, Dequantize, Quantize, QuantizedConv, Rearrange
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.quantized_files import QuantizedNetwork

SIDE = 9
CHANNELS_FIRST = [0, 3, 1, 2]


def integers(network: Network, *numbers: int) -> str:
    return network.weight(np.array(numbers, np.int64))


def floats(network: Network, *numbers: float) -> str:
    return network.weight(np.array(numbers, np.float32))


def number(network: Network, value: float, dtype: type[np.generic] = np.float32) -> str:
    return network.weight(np.array(value, dtype))


def steps(network: Network) -> None:
    grid = number(network, 0.02), number(network, 128, np.uint8)
    network.add("QuantizeLinear", *grid)
    network.add("DequantizeLinear", *grid)
    network.add("Mul", number(network, 0.5))


def other_order_of_colors(network: Network) -> str:
    return network.add("Slice", *(integers(network, each) for each in (-1, -(2**31), 3, -1)))


# What may be done to a picture before its channels come first.
BEFORE: dict[str, Callable[[Network], Any]] = {
    "nothing": lambda n: None,
    "colors in the other order": other_order_of_colors,
    "colors picked": lambda n: n.add("Gather", integers(n, 2, 0, 1), axis=3),
    "zeros around": lambda n: n.add("Pad", integers(n, 0, 2, 1, 0, 0, 0, 3, 0)),
    "a mirrored border": lambda n: n.add("Pad", integers(n, 0, 1, 1, 0, 0, 1, 1, 0), mode="reflect"),
    "bounds": lambda n: n.add("Clip", number(n, -0.5), number(n, 0.75)),
    "an activation": lambda n: n.add("Relu"),
    "steps of 8 bits": steps,
    "mean and deviation": lambda n: (
        n.add("Sub", floats(n, 0.1, 0.2, 0.3)),
        n.add("Div", floats(n, 0.5, 0.6, 0.7)),
    ),
    "Caffe's preparation and zeros around": lambda n: (
        other_order_of_colors(n),
        n.add("Add", floats(n, 0.4, 0.2, 0.1)),
        n.add("Pad", integers(n, 0, 1, 1, 0, 0, 1, 1, 0)),
    ),
    "another size": lambda n: n.add("Resize", "", floats(n, 1, 2, 1.5, 1), mode="linear"),
    "a part": lambda n: n.add("Slice", *(integers(n, *each) for each in ((1, 2), (7, 8), (1, 2)))),
    "other colors": lambda n: n.add("MatMul", n.normal(3, 3)),
    "a mirror image": lambda n: n.add("Slice", *(integers(n, each) for each in (-1, -(2**31), 2, -1))),
    "whole numbers": lambda n: n.add("Round"),
}


def convolution(network: Network) -> None:
    network.add("Transpose", perm=CHANNELS_FIRST)
    network.add("Conv", network.normal(4, 3, 3, 3))
    network.add("GlobalAveragePool")


AFTER: dict[str, Callable[[Network], Any]] = {
    "a convolution": convolution,
    "no window at all": lambda n: n.add("ReduceMean", axes=[1, 2], keepdims=0),
}


@pytest.mark.parametrize("side", [SIDE, "side"])
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("before", BEFORE)
def test_what_comes_before_the_channels_come_first(
    tmp_path: Path, before: str, after: str, side: int | str
) -> None:
    network = Network(["N", side, side, 3])
    BEFORE[before](network)
    AFTER[after](network)
    network.add("Flatten")
    path = network.save(tmp_path / "last.onnx")
    x = np.random.default_rng(0).standard_normal((1, SIDE, SIDE, 3)).astype(np.float32)

    graph = simplify(read_onnx(path, (SIDE, SIDE)))

    assert graph.shapes[graph.input] == (3, SIDE, SIDE)
    found = reference.run(graph, x.transpose(*CHANNELS_FIRST))
    assert relative_error(found, onnxruntime_outputs(path, x)) < 1e-5


@pytest.mark.parametrize("before", ["zeros around", "bounds", "steps of 8 bits", "mean and deviation"])
def test_no_pixel_is_moved_for_it(tmp_path: Path, before: str) -> None:
    network = Network(["N", SIDE, SIDE, 3])
    BEFORE[before](network)
    convolution(network)
    network.add("Flatten")

    graph = simplify(read_onnx(network.save(tmp_path / "last.onnx")))

    assert not any(isinstance(operator, Rearrange) for operator in graph.operators)


def test_zeros_around_a_large_picture_need_no_weights_by_row(tmp_path: Path) -> None:
    network = Network(["N", 500, 500, 3])
    BEFORE["zeros around"](network)
    convolution(network)
    network.add("Flatten")

    graph = simplify(read_onnx(network.save(tmp_path / "last.onnx")))

    assert [operator.weight.shape[:2] for operator in graph.operators if isinstance(operator, Conv)] == [(4, 3)]


def test_a_convolution_of_steps_that_were_made_channels_last_is_one_of_whole_numbers(tmp_path: Path) -> None:
    network = QuantizedNetwork(["N", SIDE, SIDE, 3])
    network.through_steps(0.02, zero=128)
    network.add("Transpose", perm=CHANNELS_FIRST)
    network.layer("Conv", 4, 3, 3, 3, source_scale=0.02)
    network.add("GlobalAveragePool")
    network.add("Flatten")

    graph = simplify(read_onnx(network.save(tmp_path / "last.onnx")))

    assert [type(operator) for operator in graph.operators[:2]] == [Quantize, QuantizedConv]
    assert not any(isinstance(operator, Dequantize) for operator in graph.operators)


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 8, 8), (3, 8, 3), (4, 9, 3)])
def test_a_picture_whose_second_axis_a_convolution_reads_as_channels_has_them_first(
    tmp_path: Path, shape: tuple[int, int, int]
) -> None:
    network = Network(["N", *shape])
    network.add("Relu")
    network.add("Conv", network.normal(4, shape[0], 3, 3))
    network.add("Flatten")

    graph = read_onnx(network.save(tmp_path / "first.onnx"))

    assert graph.shapes[graph.input] == shape


def test_a_transpose_of_a_picture_with_few_channels_and_many_columns_is_only_a_transpose(tmp_path: Path) -> None:
    network = Network(["N", 3, 8, 9])
    network.add("Transpose", perm=CHANNELS_FIRST)
    network.add("Flatten")

    graph = read_onnx(network.save(tmp_path / "first.onnx"))

    assert graph.shapes[graph.input] == (3, 8, 9)
