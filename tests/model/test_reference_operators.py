"""Operators that edged gives to the reference implementation of onnx compute what onnxruntime does."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.model import reference
from edged.model.graph import OnHost
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error


def noise(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).standard_normal((2, *shape)).astype(np.float32)


def answers(
    network: Network, path: Path, x: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Those of edged's reference and those of onnxruntime. Requires that the last node is computed on the host."""
    network.add("Flatten")
    graph = simplify(read_onnx(network.save(path / "network.onnx")))
    assert any(isinstance(operator, OnHost) for operator in graph.operators)
    return reference.run(graph, x), onnxruntime_outputs(path / "network.onnx", x)


@pytest.mark.parametrize("axis", [1, 2, -1])
@pytest.mark.parametrize("rows", [3, 8])
def test_elements_are_gathered_along_an_axis_of_more_than_64(tmp_path: Path, axis: int, rows: int) -> None:
    network = Network(["N", 70, 8, 9])
    indices = np.random.default_rng(1).integers(-8, 8, (1, 70, rows, 9))

    network.add("GatherElements", network.weight(indices if axis == 2 else indices[:, :, :rows]), axis=axis)

    np.testing.assert_array_equal(*answers(network, tmp_path, noise(70, 8, 9)[:1]))


@pytest.mark.parametrize("align_corners", [0, 1])
@pytest.mark.parametrize(
    ("mode", "padding"),
    [
        ("linear", "zeros"),
        ("linear", "border"),
        ("linear", "reflection"),
        ("nearest", "zeros"),
        ("cubic", "zeros"),
    ],
)
def test_pictures_are_sampled_at_computed_positions(
    tmp_path: Path, mode: str, padding: str, align_corners: int
) -> None:
    network = Network(["N", 3, 7, 9], opset=20)
    offsets = network.add("Conv", network.normal(2, 3, 1, 1), kernel_shape=[1, 1])  # some of them far outside
    positions = network.add("Transpose", reads=offsets, perm=[0, 2, 3, 1])

    network.add(
        "GridSample", positions, reads="input", mode=mode, padding_mode=padding, align_corners=align_corners
    )

    assert relative_error(*answers(network, tmp_path, noise(3, 7, 9))) < 1e-5
