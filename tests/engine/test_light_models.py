"""The light models of the `onnx` package: whole networks of nine families, with random weights."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import NodeProto, numpy_helper

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.model_part import ModelPart
from edged.model.onnx_reader import read_onnx
from edged.model.package import Input
from edged.model.passes import simplify
from tests.model.onnx_files import onnxruntime_outputs, relative_error

FOLDER = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = sorted(path.stem.removeprefix("light_") for path in FOLDER.glob("light_*.onnx"))
CLOSE = 1e-4  # of the range of the scores


def with_random_weights(name: str, folder: Path) -> Path:
    """A copy of a light model with random weights in place of ones, without a Softmax, which would hide them."""
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    readers = {source: node for node in model.graph.node for source in node.input}
    random, nodes = np.random.default_rng(0), []
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape":
            shape = tuple(int(size) for size in shapes[node.input[0]])
            values = weights(random, shape, readers[node.output[0]], node.output[0])
            model.graph.initializer.append(numpy_helper.from_array(values, node.output[0]))
        elif node.op_type == "Softmax":
            nodes.append(onnx.helper.make_node("Identity", node.input, node.output, node.name))
        else:
            nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    return path


def weights(
    random: np.random.Generator, shape: tuple[int, ...], reader: NodeProto, name: str
) -> NDArray[np.float32]:
    """Weights that keep activations near one."""
    if len(shape) > 1:
        values = random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        return np.asarray(values, np.float32)
    if reader.op_type in {"BatchNormalization", "Unsqueeze"} and list(reader.input).index(name) in {0, 1, 4}:
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    return (random.standard_normal(shape) * 0.1).astype(np.float32)


def test_there_are_nine() -> None:
    assert len(MODELS) == 9


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
def test_each_answers_as_onnxruntime_does(
    network_device: Device, programs_directory: Path, tmp_path: Path, name: str
) -> None:
    path = with_random_weights(name, tmp_path)
    graph = simplify(read_onnx(path))
    _, height, width = graph.shapes[graph.input]
    model_input = Input(width=width, height=height, color="rgb", scale=1 / 255, mean=(0.5,) * 3, std=(0.25,) * 3)
    images = np.random.default_rng(0).integers(0, 256, (1, height, width, 3), np.uint8)
    x = reference.prepare(images, model_input)
    expected = onnxruntime_outputs(path, x)
    assert np.ptp(expected) > 1e-3

    runtime = Runtime(ModelPart(graph, model_input), network_device, cache=programs_directory)
    found = runtime.submit(images).wait().outputs.reshape(1, -1)

    assert relative_error(reference.run(graph, x), expected) < CLOSE
    assert relative_error(found, expected) < CLOSE
