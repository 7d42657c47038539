"""Files that quantize the inputs of their layers for each picture are computed in floats, by kernels."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import OnHost
from edged.model.onnx_reader import graph_of, read_onnx
from edged.model.passes import simplify
from tests.cli.command import edged
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error, resnet
from tests.model.token_networks import vit

LOST = 0.02  # of the range, by eight bits


def noise() -> NDArray[np.float32]:
    return np.random.default_rng(0).random((1, 3, 32, 32)).astype(np.float32)


def dynamic(network: Network, path: Path, kind: QuantType = QuantType.QUInt8, *, by_channel: bool = False) -> Path:
    """Save a network, and beside it what onnxruntime makes of it: as transformers.js has its files."""
    network.save(path)
    quantized = path.with_name("model_quantized.onnx")
    quantize_dynamic(path, quantized, weight_type=kind, per_channel=by_channel)
    return quantized


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("kind", [QuantType.QUInt8, QuantType.QInt8])
def test_a_transformer_is_computed_in_floats(tmp_path: Path, kind: QuantType, by_channel: bool) -> None:
    path = dynamic(vit(), tmp_path / "net.onnx", kind, by_channel=by_channel)

    graph = simplify(read_onnx(path))

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    original = onnxruntime_outputs(tmp_path / "net.onnx", noise())
    assert relative_error(reference.run(graph, noise()), original) < LOST


def test_convolutions_keep_their_strides_and_pads(tmp_path: Path) -> None:
    path = dynamic(resnet(18, 32, 32, base=8, batch=1), tmp_path / "net.onnx")

    file = read_file(path)
    graph = simplify(graph_of(file))

    assert file.float_layers == 20
    assert file.has_stored_ends
    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, noise()), onnxruntime_outputs(path, noise())) < LOST


def test_the_weights_are_those_of_the_file(tmp_path: Path) -> None:
    """Given pictures that eight bits hold exactly: then nothing is lost."""
    network = Network([1, 3, 4, 4])
    network.add("Flatten")
    network.add("MatMul", network.normal(48, 10))
    path = dynamic(network, tmp_path / "net.onnx")
    pixels = np.random.default_rng(0).integers(0, 256, (1, 3, 4, 4)).astype(np.float32)
    pixels[0, 0, 0, :2] = 0, 255

    assert relative_error(reference.run(read_onnx(path), pixels), onnxruntime_outputs(path, pixels)) < 1e-6


def test_a_layer_of_another_form_is_computed_as_the_file_has_it(tmp_path: Path) -> None:
    path = dynamic(resnet(18, 32, 32, base=8, batch=1), tmp_path / "net.onnx")
    model = onnx.load(path)
    scales = next(node for node in model.graph.node if re.search("scales_mul", node.output[0]))
    (other,) = (node for node in model.graph.node if scales.output[0] in node.input)
    other.op_type = "Div"
    path.write_bytes(model.SerializeToString())

    file = read_file(path)
    graph = graph_of(file)

    assert file.float_layers == 19
    assert "ConvInteger" in {operator.kind for operator in graph.operators if isinstance(operator, OnHost)}
    assert relative_error(reference.run(graph, noise()), onnxruntime_outputs(path, noise())) < LOST


@pytest.mark.parametrize("change", ["weights", "scale", "zero"])
def test_numbers_that_do_not_fit_are_one_clear_error(tmp_path: Path, change: str) -> None:
    path = dynamic(resnet(18, 32, 32, base=8, batch=1), tmp_path / "net.onnx")
    model = onnx.load(path)
    layer = next(node for node in model.graph.node if node.op_type == "ConvInteger")
    wrong: dict[str, NDArray[Any]] = {
        "weights": np.ones(3, np.uint8),
        "scale": np.ones((5, 7), np.float32),
        "zero": np.ones(2, np.uint8),
    }
    name = {
        "weights": layer.input[1],
        "scale": layer.input[1].replace("quantized", "scale"),
        "zero": layer.input[3],
    }
    (tensor,) = (each for each in model.graph.initializer if each.name == name[change])
    tensor.CopyFrom(numpy_helper.from_array(wrong[change], name[change]))
    path.write_bytes(model.SerializeToString())

    with pytest.raises(ModelError, match=r"model_quantized.onnx: node "):
        read_onnx(path)


def test_inspect_reports_it(tmp_path: Path) -> None:
    path = dynamic(vit(), tmp_path / "net.onnx")

    done = edged("inspect", path)

    assert "6 layers whose input the file quantizes for each picture" in done.stdout
