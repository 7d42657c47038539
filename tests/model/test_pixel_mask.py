"""A network that reads a mask of its picture's pixels beside it is computed for the whole picture."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from edged import config
from edged.errors import ModelError
from edged.evaluation.onnxruntime_scores import OnnxruntimeNetwork
from edged.model import reference
from edged.model.from_onnx.file import read_file
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_onnx
from edged.model.package import load_model
from tests.model.onnx_files import Network, relative_error
from tests.model.token_networks import integers

MASK = "pixel_mask"
SIDE = 16
TYPES = {"integers": TensorProto.INT64, "booleans": TensorProto.BOOL, "floats": TensorProto.FLOAT}


def with_mask(
    path: Path, sides: tuple[int | str, int | str] = (SIDE, SIDE), type_: int = TensorProto.INT64
) -> Path:
    """Scores of features times the place of each pixel, which follows from the mask, as in DETR."""
    network = Network(["N", 3, SIDE, SIDE])
    features = network.add("Conv", network.normal(5, 3, 3, 3), strides=[2, 2], pads=[1] * 4)
    mask = network.add("Unsqueeze", integers(network, 1), reads=network.add("Cast", reads=MASK, to=1))
    sizes = network.add("Concat", integers(network, SIDE // 2, SIDE // 2), reads=integers(network, 1, 1), axis=0)
    small = network.add("Resize", "", "", sizes, reads=mask, mode="nearest")
    places = network.add("CumSum", network.weight(np.array(2)), reads=small)
    network.add("Mul", places, reads=features)
    network.add("Flatten", reads=network.add("GlobalAveragePool"))
    model = network.model()
    model.graph.input.append(helper.make_tensor_value_info(MASK, type_, ["N", *sides]))
    path.write_bytes(model.SerializeToString())
    return path


def noise() -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((1, 3, SIDE, SIDE)).astype(np.float32)


def with_ones(path: Path, x: NDArray[np.float32], sides: tuple[int, int], dtype: type) -> NDArray[np.float32]:
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"input": x, MASK: np.ones((1, *sides), dtype)})[0])


@pytest.mark.parametrize(
    ("kind", "dtype"), [("integers", np.int64), ("booleans", np.bool_), ("floats", np.float32)]
)
def test_a_mask_of_fixed_size_is_a_constant(tmp_path: Path, kind: str, dtype: type) -> None:
    path, x = with_mask(tmp_path / "net.onnx", (64, 64), TYPES[kind]), noise()

    graph = read_onnx(path)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, x), with_ones(path, x, (64, 64), dtype)) < 1e-6


def test_a_mask_of_open_size_is_as_large_as_the_picture(tmp_path: Path) -> None:
    path, x = with_mask(tmp_path / "net.onnx", ("height", "width")), noise()

    graph = read_onnx(path)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, x), with_ones(path, x, (SIDE, SIDE), np.int64)) < 1e-6


def test_onnxruntime_evaluates_the_network_without_its_mask(tmp_path: Path) -> None:
    model = load_model(config.ModelConfig(path=with_mask(tmp_path / "net.onnx"), scores="independent"))
    images = np.random.default_rng(0).integers(0, 256, (2, SIDE, SIDE, 3), np.uint8)

    found = OnnxruntimeNetwork(tmp_path / "net.onnx", model.input).outputs(images)

    expected = reference.run(model.graph, reference.prepare(images, model.input))
    assert relative_error(found, expected) < 1e-5


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.UNDEFINED, 77])
def test_a_mask_of_another_type_is_one_clear_error(tmp_path: Path, kind: int) -> None:
    path = with_mask(tmp_path / "net.onnx", type_=kind)

    with pytest.raises(ModelError, match=r"net.onnx: input: the network has 2 inputs \(input, pixel_mask\)"):
        read_onnx(path)


def test_a_mask_of_many_pixels_is_refused_before_it_is_made(tmp_path: Path) -> None:
    path = with_mask(tmp_path / "net.onnx", (200_000, 200_000))

    with pytest.raises(ModelError, match=r"net.onnx: node .*takes the constants of the network beyond"):
        read_onnx(path)


def test_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = with_mask(tmp_path / "net.onnx")

    file = read_file(path)

    assert not file.has_stored_ends
    assert [entry.name for entry in file.model.graph.input] == ["input"]
    assert [entry.name for entry in onnx.load(path).graph.input] == ["input", MASK]
