"""Nodes of older operator sets, which the reference implementation of `onnx` would compute by later rules."""

import re
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, defs, helper
from onnx.reference.ops import _op_list

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.older_sets import SAME_SINCE
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs

# Kinds whose later forms only have further attributes or inputs, without which they mean the older form. Scan 8 is
# rejected.
ONLY_ADDED_TO = (
    "Attention AveragePool CastLike DepthToSpace DequantizeLinear GRU GatherND GroupNormalization LSTM LpPool "
    "MaxPool QuantizeLinear Range Scan ScatterElements ScatterND SpaceToDepth"
)


def assert_equals_onnxruntime(network: Network, path: Path) -> None:
    network.add("Flatten", axis=1)
    network.save(path)
    x = np.random.default_rng(0).standard_normal((1, 3, 4, 5)).astype(np.float32)

    found = reference.run(simplify(read_onnx(path)), x)

    assert np.allclose(found, onnxruntime_outputs(path, x), atol=1e-5)


@pytest.mark.parametrize("opset", [7, 11, 12, 13])
@pytest.mark.parametrize("attributes", [{}, *({"axis": axis} for axis in range(4))])
@pytest.mark.parametrize("kind", ["Hardmax", "Softmax", "LogSoftmax"])
def test_up_to_operator_set_12_all_axes_from_one_on_are_one(
    tmp_path: Path, kind: str, attributes: dict[str, Any], opset: int
) -> None:
    network = Network([1, 3, 4, 5], opset=opset)
    network.add(kind, **attributes)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("attributes", [{}, {"mode": "bilinear"}, {"mode": "bicubic"}, {"mode": "nearest"}])
def test_modes_of_grid_sample_as_operator_set_16_calls_them(tmp_path: Path, attributes: dict[str, Any]) -> None:
    network = Network([1, 3, 4, 5], opset=16)
    places = network.weight(np.random.default_rng(1).uniform(-0.9, 0.9, (1, 6, 7, 2)).astype(np.float32))
    network.add("GridSample", places, padding_mode="border", align_corners=1, **attributes)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


@pytest.mark.parametrize("opset", [10, 16])
def test_regions_begin_at_whole_pixels_before_operator_set_16(tmp_path: Path, opset: int) -> None:
    network = Network([1, 3, 4, 5], opset=opset)
    regions = network.weight(np.array([[0.3, 0, 3, 2.6]], np.float32))
    network.add("RoiAlign", regions, network.weight(np.array([0])), output_height=2, output_width=3)

    assert_equals_onnxruntime(network, tmp_path / "net.onnx")


def test_a_node_of_older_rules_inside_a_scan_is_rejected(tmp_path: Path) -> None:
    network = Network(["N", 3, 4, 5], opset=11)
    body = helper.make_graph(
        [helper.make_node("Hardmax", ["row"], ["largest"])],
        "body",
        [helper.make_tensor_value_info("row", TensorProto.FLOAT, [3, 4, 5])],
        [helper.make_tensor_value_info("largest", TensorProto.FLOAT, [3, 4, 5])],
    )
    network.add("Scan", body=body, num_scan_inputs=1)
    network.add("Flatten")

    with pytest.raises(ModelError, match=r"\(Hardmax\) is of operator set 11, .* export it with 13 or later"):
        read_onnx(network.save(tmp_path / "net.onnx"))


def test_every_kind_whose_rules_changed_is_known() -> None:
    """Given what each operator set says, and the versions that the package `onnx` implements."""
    implemented = _implemented_versions()
    changed = {
        later.name: later.since_version
        for earlier, later in _successive_schemas()
        if later.since_version > 7
        and _signature(earlier) != _signature(later)
        and later.since_version not in implemented[later.name]
    }

    unknown = changed.keys() - SAME_SINCE.keys() - set(ONLY_ADDED_TO.split())

    assert unknown == set()
    assert set(SAME_SINCE) <= changed.keys() | {"Upsample"}


def _implemented_versions() -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for name in dir(_op_list):
        if of_one_set := re.fullmatch(r"(\w+)_(\d+)", name):
            found[of_one_set[1]].add(int(of_one_set[2]))
    return found


def _successive_schemas() -> list[tuple[defs.OpSchema, defs.OpSchema]]:
    by_kind: dict[str, list[defs.OpSchema]] = defaultdict(list)
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda each: int(each.since_version)):
        if schema.domain == "":
            by_kind[schema.name].append(schema)
    return [pair for each in by_kind.values() for pair in pairwise(each)]


def _signature(schema: defs.OpSchema) -> tuple[Any, ...]:
    """Return what a node may say: its attributes with their defaults, and its inputs and outputs."""
    attributes = {name: str(each.default_value) for name, each in schema.attributes.items()}
    return attributes, [each.name for each in schema.inputs], len(schema.outputs)
