"""How far a network is from fp32."""

import json
from pathlib import Path

import pytest

from edged.cli.bench.measure import LayerError, errors_of
from edged.config import Precision
from edged.engine.device import Device, find_device
from edged.engine.layer_outputs import LayerOutputs
from edged.engine.planner import RULES
from edged.model.graph import Conv, Graph
from edged.model.package import Model
from tests.engine.networks import RGB, random_images, small_network

IMAGES = random_images(RGB, 3)


@pytest.fixture(scope="module")
def device() -> Device:
    """Any one."""
    return find_device("auto")


def of(graph: Graph, device: Device, precision: Precision, cache: Path) -> dict[str, LayerError]:
    """The errors by layer, once table and JSON are known to tell the same."""
    outputs = LayerOutputs(graph, RGB, device, precision, RULES, cache)
    found = errors_of(Model("small", "", (), graph, RGB), outputs, IMAGES)
    layers = json.loads(json.dumps(found.as_object(), allow_nan=False))["layers"]
    lines = found.as_table().splitlines()[2:-2]
    assert [layer["layer"] for layer in layers] == [line.split()[0] for line in lines]
    assert [layer["share"] is None for layer in layers] == ["not finite" in line for line in lines]
    return {layer.layer: layer for layer in found.layers}


@pytest.mark.deep
def test_less_precision_has_larger_errors(device: Device, tmp_path: Path) -> None:
    graph = small_network()

    fp32, weights, fp16 = (of(graph, device, name, tmp_path) for name in ("fp32", "fp16-weights", "fp16"))

    assert fp32["stem"].share < 1e-5 < weights["stem"].share < fp16["stem"].share < 1e-2
    assert all(error.share < 1e-2 for error in fp16.values())


@pytest.mark.deep
def test_values_beyond_a_half_are_shown_where_they_begin(device: Device, tmp_path: Path) -> None:
    graph = small_network()
    up = next(operator for operator in graph.operators if operator.name == "up")
    assert isinstance(up, Conv)
    up.bias[3] = 1e5

    found = of(graph, device, "fp16", tmp_path)

    assert found["pool"].share < 1e-2
    assert found["up"].share == float("inf")
