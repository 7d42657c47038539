"""Changes of an ONNX file around the quantization tools of onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from edged.quantization.file import as_float32, leave_scores_in_floats
from tests.cli import models
from tests.model.quantized_files import QuantizedNetwork


def kinds(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def run(model: onnx.ModelProto, x: NDArray[Any]) -> NDArray[Any]:
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])


@pytest.fixture
def in_halves(tmp_path: Path) -> onnx.ModelProto:
    """A network of float16 that converts its scores."""
    model = onnx.load(models.small_network(tmp_path / "model.onnx"))
    graph = model.graph
    for tensor in graph.initializer:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    graph.node[-1].output[0] = "wide"
    graph.node.append(helper.make_node("Cast", ["wide"], ["half"], to=TensorProto.FLOAT))
    graph.node.append(helper.make_node("Cast", ["half"], ["scores"], to=TensorProto.FLOAT16))
    for entry in (*graph.input, *graph.output):
        entry.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model


def test_a_file_of_float16_becomes_one_of_float32_with_the_same_answers(in_halves: onnx.ModelProto) -> None:
    x = np.random.default_rng(0).random((1, 3, models.SIZE, models.SIZE), np.float32)
    expected = run(in_halves, x.astype(np.float16))

    as_float32(in_halves)

    onnx.checker.check_model(in_halves, full_check=True)
    found = run(in_halves, x)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 0.02 * np.ptp(expected)


@pytest.mark.parametrize("ends", [(), ("Softmax",), ("Flatten", "Softmax")])
def test_scores_are_not_rounded_to_steps(tmp_path: Path, ends: tuple[str, ...]) -> None:
    network = QuantizedNetwork([1, 3, 8, 8])
    network.through_steps()
    network.layer("Conv", 4, 3, 3, 3)
    network.through_steps(scale=0.5)
    for kind in ends:
        network.add(kind)
        network.through_steps(scale=1 / 255)
    path = network.save(tmp_path / "net.onnx")
    model = onnx.load(path)
    name = model.graph.output[0].name

    leave_scores_in_floats(model)

    assert np.isfinite(run(model, np.ones((1, 3, 8, 8), np.float32))).all()
    assert kinds(model)[-1 - len(ends) :] == ["Conv", *ends]
    assert kinds(model).count("QuantizeLinear") == 1
    assert [output.name for output in model.graph.output] == [name]
    read = {each for node in model.graph.node for each in node.input}
    assert {tensor.name for tensor in model.graph.initializer} <= read


def test_steps_that_another_layer_reads_too_stay(tmp_path: Path) -> None:
    network = QuantizedNetwork([1, 3, 8, 8])
    network.through_steps()
    shared = network.tensor
    network.layer("Conv", 3, 3, 1, 1)
    network.through_steps()
    network.add("Add", shared)
    model = onnx.load(network.save(tmp_path / "net.onnx"))
    before = kinds(model)

    leave_scores_in_floats(model)

    assert kinds(model) == before
