"""Integers between a QuantizeLinear and what reads them as numbers, not as steps of a scale."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from edged.errors import ModelError
from edged.model import reference
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network
from tests.model.quantized_files import node_by_node


def integers(network: Network, *numbers: int, dtype: type[np.generic] = np.int64) -> str:
    return network.weight(np.array(numbers, dtype))


def byte(network: Network, number: int) -> str:
    return network.weight(np.array(number, np.uint8))


def _where(network: Network) -> None:
    is_large = network.add("Greater", byte(network, 101))
    network.add("Where", byte(network, 3), byte(network, 5), reads=is_large)


def _squeeze(network: Network) -> None:
    network.add("Gather", integers(network, 2), axis=1)
    network.add("Squeeze", integers(network, 1))


def _blocks(network: Network) -> None:
    network.add("Concat", *[network.tensor] * 3, axis=1)
    network.add("DepthToSpace", blocksize=2)


# What may lie between a QuantizeLinear and a Cast to floats.
NODES: dict[str, Callable[[Network], Any]] = {
    "nothing": lambda n: None,
    "Reshape": lambda n: n.add("Reshape", integers(n, 0, -1, 4)),
    "Transpose": lambda n: n.add("Transpose", perm=[0, 2, 3, 1]),
    "MaxPool": lambda n: n.add("MaxPool", kernel_shape=[2, 2]),
    "Slice": lambda n: n.add("Slice", *(integers(n, each) for each in (1, 7, 2, 2))),
    "Gather": lambda n: n.add("Gather", integers(n, 2, 0), axis=1),
    "Squeeze": _squeeze,
    "Unsqueeze": lambda n: n.add("Unsqueeze", integers(n, 1)),
    "Concat": lambda n: n.add("Concat", n.tensor, axis=1),
    "Identity": lambda n: n.add("Identity"),
    "Pad": lambda n: n.add("Pad", integers(n, 0, 0, 1, 1, 0, 0, 1, 1), byte(n, 9)),
    "Clip": lambda n: n.add("Clip", byte(n, 90), byte(n, 120)),
    "ReduceMax": lambda n: n.add("ReduceMax", axes=[1]),
    "Resize": lambda n: n.add("Resize", "", n.weight(np.array([1, 1, 2, 2], np.float32)), mode="nearest"),
    "Expand": lambda n: n.add("Expand", integers(n, 1, 2, 4, 6, 8)),
    "DepthToSpace": _blocks,
    "Where": _where,
    "Mul": lambda n: (n.add("Cast", to=TensorProto.INT32), n.add("Mul", integers(n, 3, dtype=np.int32))),
}


def quantized(zero: int, add: Callable[[Network], Any]) -> Network:
    network = Network([1, 4, 6, 8])
    network.add("QuantizeLinear", network.weight(np.array(0.05, np.float32)), byte(network, zero))
    add(network)
    return network


@pytest.mark.parametrize("zero", [0, 100])
@pytest.mark.parametrize("nodes", NODES)
def test_a_cast_gives_the_integers_of_the_file(tmp_path: Path, nodes: str, zero: int) -> None:
    network = quantized(zero, NODES[nodes])
    network.add("Cast", to=TensorProto.FLOAT)
    network.add("Flatten")
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((1, 4, 6, 8)).astype(np.float32)

    found = reference.run(simplify(read_onnx(path)), x)

    assert np.array_equal(found, node_by_node(path, x))


def test_integers_as_scores_are_rejected(tmp_path: Path) -> None:
    network = quantized(100, lambda n: n.add("Flatten"))

    with pytest.raises(ModelError, match="is of type uint8; supported are floats"):
        read_onnx(network.save(tmp_path / "network.onnx"))
