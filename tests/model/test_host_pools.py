"""Pools that no kernel computes: dilated ones, and those that write the places of their values."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.host_model import HostModel
from edged.model.from_onnx.node import node_of
from edged.model.from_onnx.scope import Value
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs

SHAPE = (1, 4, 11, 5)


def scores(network: Network, path: Path) -> Any:
    network.add("Flatten", axis=1)
    graph = simplify(read_onnx(network.save(path)))
    assert any(isinstance(operator, OnHost) for operator in graph.operators)
    return reference.run(graph, pixels())


def pixels() -> Any:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


def pool(kind: str, opset: int = 22, **attributes: Any) -> Network:
    network = Network(list(SHAPE), opset=opset)
    network.add(kind, **attributes)
    return network


# Strides, dilations, and the pads (top, left, bottom, right) that SAME_UPPER means for windows of 3 × 2.
SAME = [
    ([3, 3], [2, 1], [1, 0, 2, 0]),
    ([3, 3], [2, 3], [1, 1, 2, 1]),
    ([1, 2], [2, 2], [2, 1, 2, 1]),
    ([2, 1], [2, 2], [2, 1, 2, 1]),
]


@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(("strides", "dilations", "pads"), SAME)
def test_same_pads_of_dilated_windows_are_those_of_all_that_they_span(
    tmp_path: Path, strides: list[int], dilations: list[int], pads: list[int], kind: str, ceil: int
) -> None:
    """Given onnxruntime's answer to the explicit pads: it takes the windows for undilated ones."""
    attributes: dict[str, Any] = {"kernel_shape": [3, 2], "strides": strides, "dilations": dilations}
    explicit = pool(kind, **attributes, pads=pads)
    explicit.add("Flatten", axis=1)
    expected = onnxruntime_outputs(explicit.save(tmp_path / "explicit.onnx"), pixels())
    lower = [pads[2], pads[3], pads[0], pads[1]]
    explicit = pool(kind, **attributes, pads=lower)
    explicit.add("Flatten", axis=1)
    expected_lower = onnxruntime_outputs(explicit.save(tmp_path / "explicit.onnx"), pixels())

    found = scores(pool(kind, **attributes, auto_pad="SAME_UPPER", ceil_mode=ceil), tmp_path / "upper.onnx")
    found_lower = scores(pool(kind, **attributes, auto_pad="SAME_LOWER", ceil_mode=ceil), tmp_path / "lower.onnx")

    assert np.allclose(found, expected, atol=1e-5)
    assert np.allclose(found_lower, expected_lower, atol=1e-5)


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize(
    "attributes",
    [
        {"strides": [2, 1], "auto_pad": "VALID"},
        {"strides": [3, 2], "auto_pad": "VALID", "ceil_mode": 1},
        {"strides": [1, 1], "pads": [1, 0, 2, 1]},
        {"strides": [3, 2], "pads": [1, 1, 0, 1], "ceil_mode": 1},
    ],
)
def test_dilated_windows_with_other_pads(tmp_path: Path, kind: str, attributes: dict[str, Any]) -> None:
    network = pool(kind, kernel_shape=[3, 2], dilations=[2, 2], **attributes)

    found = scores(network, tmp_path / "net.onnx")

    assert np.allclose(found, onnxruntime_outputs(tmp_path / "net.onnx", pixels()), atol=1e-5)


def test_pads_that_differ_by_side_of_windows_with_strides_of_1(tmp_path: Path) -> None:
    """Given dilations, so that the host computes the pool."""
    network = Network(list(SHAPE))
    network.add("Pad", network.weight(np.array([0, 0, 1, 0, 0, 0, 0, 2])))
    network.add("MaxPool", kernel_shape=[3, 3], pads=[0, 2, 1, 0], dilations=[1, 2])

    found = scores(network, tmp_path / "net.onnx")

    assert np.array_equal(found, onnxruntime_outputs(tmp_path / "net.onnx", pixels()))


@pytest.mark.parametrize("strides", [[2, 2], [1, 1]])
@pytest.mark.parametrize(
    "attributes", [{}, {"storage_order": 1}, {"pads": [1, 0, 0, 1]}, {"auto_pad": "SAME_LOWER"}]
)
def test_places_of_the_values(tmp_path: Path, attributes: dict[str, Any], strides: list[int]) -> None:
    network = Network(list(SHAPE))
    places = helper.make_node(
        "MaxPool", ["input"], ["y", "places"], kernel_shape=[3, 2], strides=strides, **attributes
    )
    network.nodes.append(places)
    network.add("Cast", to=TensorProto.FLOAT, reads="places")

    found = scores(network, tmp_path / "net.onnx")

    assert np.array_equal(found, onnxruntime_outputs(tmp_path / "net.onnx", pixels()))


@pytest.mark.parametrize("counted", [0, 1])
def test_a_mean_over_windows_that_reach_beyond_the_pads(tmp_path: Path, counted: int) -> None:
    network = Network(list(SHAPE), opset=19)
    network.add(
        "AveragePool",
        kernel_shape=[4, 3],
        strides=[3, 3],
        dilations=[1, 2],
        pads=[1, 1, 0, 1],
        ceil_mode=1,
        count_include_pad=counted,
    )

    found = scores(network, tmp_path / "net.onnx")

    assert np.allclose(found, onnxruntime_outputs(tmp_path / "net.onnx", pixels()), atol=1e-6)


def test_a_shape_that_the_reference_mistakes_is_rejected() -> None:
    """Given a pool that is not known as one, so that the reference computes it as it is in the file."""
    network = pool("MaxPool", kernel_shape=[3, 2], strides=[3, 3], dilations=[2, 1], auto_pad="SAME_LOWER")
    (proto,) = network.nodes
    node = replace(node_of(proto, network.opset, ()), kind="UnknownPool")
    model = HostModel(proto, node, {"input": Value("input", SHAPE[1:])}, {}, network.tensor)

    with pytest.raises(
        ModelError, match=r"a tensor of shape \(1, 4, 3, 1\) in place of \(1, 4, 4, 2\), by a mistake"
    ):
        model.tried()
