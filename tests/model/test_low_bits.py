"""Products with weights of a few bits in blocks, as onnxruntime computes them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_onnx
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error

ROWS, COLUMNS = 48, 5
WHOLE = {"block_size": 32, "bits": 4}


def packed(numbers: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Pack the last axis, the lowest bits first."""
    planes = (numbers[..., None] >> np.arange(bits, dtype=np.uint8)) & 1
    return np.packbits(planes.reshape(*numbers.shape[:-1], -1), axis=-1, bitorder="little")


def file_with(path: Path, *, zeros: str = "", bias: bool = False, flat: bool = False, **attributes: Any) -> Path:
    """A product of `ROWS` features with random weights of a few bits. zeros: "", "packed" or "floats"."""
    network = Network(["N", 3, 4, 4])
    chance, bits = network.random, attributes["bits"]
    blocks = math.ceil(ROWS / attributes["block_size"])
    steps = chance.integers(0, 1 << bits, (COLUMNS, blocks, attributes["block_size"])).astype(np.uint8)
    scales = chance.uniform(0.01, 0.1, (COLUMNS, blocks)).astype(np.float32)
    offsets = chance.integers(0, 1 << bits, (COLUMNS, blocks)).astype(np.uint8)
    inputs = [network.weight(packed(steps, bits)), network.weight(scales.reshape(-1) if flat else scales)]
    inputs.append({"": "", "packed": network.weight(packed(offsets, bits)),
                   "floats": network.weight(offsets.astype(np.float32))}[zeros])  # fmt: skip
    inputs += ["", network.normal(COLUMNS)] if bias else []
    network.add("Flatten")
    network.add("MatMulNBits", *inputs, domain="com.microsoft", K=ROWS, N=COLUMNS, **attributes)
    return saved(network, path)


def saved(network: Network, path: Path) -> Path:
    model = network.model()
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    "given",
    [
        WHOLE,
        {"block_size": 16, "bits": 4, "zeros": "packed"},
        {"block_size": 16, "bits": 4, "zeros": "floats"},
        {"block_size": 32, "bits": 8, "zeros": "packed"},
        {"block_size": 16, "bits": 4, "flat": True},
        {"block_size": 32, "bits": 4, "bias": True},
    ],
    ids=str,
)
def test_weights_in_blocks_are_those_of_onnxruntime(tmp_path: Path, given: dict[str, Any]) -> None:
    path = file_with(tmp_path / "net.onnx", **given)
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype(np.float32)

    graph = read_onnx(path)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-5


def with_inputs(path: Path, change: dict[int, str], **attributes: int) -> None:
    """Change what the product of a file reads, and its attributes."""
    model = onnx.load(path)
    (node,) = (node for node in model.graph.node if node.op_type == "MatMulNBits")
    for index, name in change.items():
        node.input.extend([""] * (index + 1 - len(node.input)))
        node.input[index] = name
    for attribute in node.attribute:
        attribute.i = attributes.get(attribute.name, attribute.i)
    path.write_bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("change", "attributes", "message"),
    [
        ({}, {"bits": 5}, r"has weights of 5 bits in blocks of 32; supported are \(2, 4, 8\) bits"),
        ({}, {"N": 6}, r"has 160 weights; expected 192, for the shape \(6, 2, 16\)"),
        ({}, {"K": 96}, r"has 160 weights; expected 240, for the shape \(5, 3, 16\)"),
        ({1: "weight_1"}, {}, "has weights of float32; supported are packed ones of uint8"),
        ({2: "weight_0"}, {}, r"has 160 scales; expected 10"),
        ({4: "weight_1"}, {}, "has an order of its rows, g_idx"),
        ({1: "flatten_0"}, {}, "reads computed weights"),
    ],
)
def test_weights_that_do_not_fit_are_one_clear_error(
    tmp_path: Path, change: dict[int, str], attributes: dict[str, int], message: str
) -> None:
    path = file_with(tmp_path / "net.onnx", block_size=32, bits=4)
    with_inputs(path, change, **attributes)

    with pytest.raises(ModelError, match=rf"net.onnx: node .*\(MatMulNBits\): {message}"):
        read_onnx(path)
