"""Operators that edged gives to the reference implementation of onnx compute what onnxruntime does."""

from pathlib import Path

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("rows", [3, 8])
def test_elements_are_gathered_along_an_axis_of_more_than_64(tmp_path: Path, axis: int, rows: int) -> None:
    network = Network([1, 70, 8, 9])
    indices = np.random.default_rng(1).integers(-8, 8, (1, 70, rows, 9))
    network.add("GatherElements", network.weight(indices if axis == 2 else indices[:, :, :rows]), axis=axis)
    network.add("Flatten")
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((1, 70, 8, 9)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert any(isinstance(operator, OnHost) for operator in graph.operators)
    np.testing.assert_array_equal(reference.run(graph, x), onnxruntime_outputs(path, x))
