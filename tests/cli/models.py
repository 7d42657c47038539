"""Small ONNX files, good and bad."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE = 16
CLASSES = 5


def small_network(
    path: Path, activation: str = "Relu", largest: float = 1.0, size: int = SIZE, channels: int = 3
) -> Path:
    """Convolution, activation, mean, matrix for 5 classes. Its file says nothing of colours or labels."""
    random = np.random.default_rng(7)
    weights = {
        "kernel": (largest * random.normal(size=(8, channels, 3, 3))).astype(np.float32),
        "matrix": random.normal(size=(CLASSES, 8)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node(activation, ["a"], ["b"], name="second"),
        helper.make_node("GlobalAveragePool", ["b"], ["c"], name="third"),
        helper.make_node("Flatten", ["c"], ["d"], name="fourth"),
        helper.make_node("Gemm", ["d", "matrix"], ["scores"], name="last", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, channels, size, size])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))
    return path


def contradictory(path: Path) -> Path:
    """A good file that declares two of its tensors with other shapes than its nodes write."""
    model = onnx.load(str(small_network(path)))
    model.graph.value_info.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, [1, 7, SIZE, SIZE]))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES + 1]))
    onnx.save(model, str(path))
    return path


def convolutions_alone(path: Path) -> Path:
    """Two convolutions and their mean, which is flattened at the end: 5 classes."""
    random = np.random.default_rng(7)
    weights = {
        "kernel": random.normal(size=(8, 3, 3, 3)).astype(np.float32),
        "classes": random.normal(size=(CLASSES, 8, 1, 1)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["image", "kernel"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
        helper.make_node("Conv", ["b", "classes"], ["c"], name="third"),
        helper.make_node("GlobalAveragePool", ["c"], ["mean"], name="fourth"),
        helper.make_node("Flatten", ["mean"], ["scores"], name="last"),
    ]
    graph = helper.make_graph(
        nodes,
        "convolutions",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def text_file(path: Path) -> Path:
    """What is left when a download has gone wrong."""
    path.write_text("<html>404 not found</html>\n")
    return path


def truncated(path: Path) -> Path:
    """The first half of a good file."""
    small_network(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return path


def unsupported(path: Path) -> Path:
    """An operator that is random."""
    return small_network(path, activation="Bernoulli")


def absent(path: Path) -> Path:
    """A file that is not there."""
    return path


BAD: dict[Callable[[Path], Path], str] = {
    text_file: "model.onnx",
    truncated: "model.onnx",
    unsupported: "Bernoulli",
    absent: "model.onnx",
}
