"""Weights that the nodes of a file compute from others: they are constants of the network."""

from pathlib import Path

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import AveragePool, Conv, Flatten
from edged.model.onnx_reader import missing_operators, read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.random_operators import add_several
from tests.model.token_networks import integers

OUT, CHANNELS, SIDE = 8, 3, 9
EPSILON = 1e-3


def standardized(opset: int = 17, *, reads_statistics: bool = False) -> Network:
    """A convolution whose weights are standardized, as PyTorch's older exporter writes timm's ScaledStdConv2d."""
    network = Network([1, CHANNELS, SIDE, SIDE], opset=opset)
    weight = network.normal(OUT, CHANNELS, 3, 3, std=2.0)
    flat = network.add("Reshape", integers(network, 1, OUT, -1), reads=weight)
    gain = network.add("Mul", network.weight(np.array(0.3, np.float32)), reads=network.normal(OUT))
    zeros, ones = (network.weight(np.full(OUT, each, np.float32)) for each in (0, 1))
    attributes = {"epsilon": EPSILON, "momentum": 0.0, **({"training_mode": 1} if opset >= 14 else {})}
    outputs = add_several(
        network, "BatchNormalization", [flat, gain, zeros, zeros, ones], 3 if opset >= 14 else 5, **attributes
    )
    standard = outputs[0]
    if reads_statistics:
        column = network.add("Reshape", integers(network, 1, OUT, 1), reads=outputs[1])
        standard = network.add("Add", column, reads=standard)
    shape = network.add("Shape", reads=weight)
    window = network.add("Reshape", shape, reads=standard)
    network.add("Conv", window, reads="input", kernel_shape=[3, 3])
    network.add("GlobalAveragePool")
    network.add("Flatten")
    return network


def picture() -> np.ndarray:
    return np.random.default_rng(4).standard_normal((1, CHANNELS, SIDE, SIDE)).astype(np.float32)


@pytest.mark.parametrize("opset", [14, 15, 17, 21])
def test_standardized_weights_are_those_of_the_convolution(tmp_path: Path, opset: int) -> None:
    path = standardized(opset).save(tmp_path / "standardized.onnx")

    graph = simplify(read_onnx(path))

    assert [type(operator) for operator in graph.operators] == [Conv, AveragePool, Flatten]
    assert relative_error(reference.run(graph, picture()), onnxruntime_outputs(path, picture())) < 1e-6


def test_before_operator_set_14_the_outputs_tell_that_it_is_a_training(tmp_path: Path) -> None:
    older = simplify(read_onnx(standardized(9).save(tmp_path / "older.onnx")))
    newer = simplify(read_onnx(standardized(14).save(tmp_path / "newer.onnx")))

    assert np.array_equal(reference.run(older, picture()), reference.run(newer, picture()))


def test_running_statistics_that_something_reads_are_refused(tmp_path: Path) -> None:
    path = standardized(reads_statistics=True).save(tmp_path / "statistics.onnx")

    with pytest.raises(ModelError, match=r"\(BatchNormalization\): .* supported are one output"):
        read_onnx(path)


@pytest.mark.parametrize("opset", [7, 9, 13, 14])
def test_a_norm_of_weights_by_given_statistics(tmp_path: Path, opset: int) -> None:
    network = Network([1, CHANNELS, SIDE, SIDE], opset=opset)
    weight = network.normal(OUT, CHANNELS, 3, 3)
    scale, bias, mean = (network.normal(CHANNELS) for _ in range(3))
    variance = network.weight(np.array([0.5, 1.5, 4.0], np.float32))
    normed = network.add("BatchNormalization", scale, bias, mean, variance, reads=weight)
    network.add("Conv", normed, reads="input")
    network.add("Flatten")
    path = network.save(tmp_path / "normed.onnx")

    found = reference.run(simplify(read_onnx(path)), picture())

    assert relative_error(found, onnxruntime_outputs(path, picture())) < 1e-6


@pytest.mark.parametrize("opset", [7, 9, 13])
def test_a_norm_that_the_host_computes_is_that_of_inference(tmp_path: Path, opset: int) -> None:
    network = Network([1, CHANNELS, SIDE, SIDE], opset=opset)
    means = network.add("Reshape", integers(network, CHANNELS), reads=network.add("GlobalAveragePool"))
    bias, mean = network.normal(CHANNELS), network.normal(CHANNELS)
    variance = network.weight(np.array([0.5, 1.5, 4.0], np.float32))
    network.add("BatchNormalization", means, bias, mean, variance, reads="input")
    network.add("Flatten")
    path = network.save(tmp_path / "computed.onnx")

    found = reference.run(simplify(read_onnx(path)), picture())

    assert relative_error(found, onnxruntime_outputs(path, picture())) < 1e-5


def test_a_dropout_of_weights_changes_nothing(tmp_path: Path) -> None:
    network = Network([1, CHANNELS, SIDE, SIDE])
    dropped = network.add("Dropout", reads=network.normal(OUT, CHANNELS, 3, 3))
    network.add("Conv", dropped, reads="input")
    network.add("Flatten")
    path = network.save(tmp_path / "dropped.onnx")

    found = reference.run(simplify(read_onnx(path)), picture())

    assert relative_error(found, onnxruntime_outputs(path, picture())) < 1e-6


def test_places_of_a_constant_mask_are_constants(tmp_path: Path) -> None:
    network = Network([1, CHANNELS, SIDE, SIDE])
    places = network.add("NonZero", reads=network.weight(np.array([1, 0, 1])))
    network.add("Gather", network.add("Squeeze", integers(network, 0), reads=places), reads="input", axis=1)
    network.add("Flatten")
    path = network.save(tmp_path / "places.onnx")

    found = reference.run(simplify(read_onnx(path)), picture())

    assert np.array_equal(found, picture()[:, [0, 2]].reshape(1, -1))
    assert missing_operators(read_file(path)) == ()
