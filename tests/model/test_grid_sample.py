"""Sampling at computed positions, as attention with offsets has it: a kernel computes it, onnxruntime agrees."""

from pathlib import Path

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.graph import GridSample
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error


def heads(opset: int, mode: str) -> Network:
    """Two heads of three channels, each with six positions of its own (Zhu et al., Deformable DETR, 2020)."""
    network = Network([1, 6, 7, 9], opset=opset)
    pooled = network.add("AveragePool", kernel_shape=[5, 8])
    offsets = network.add("Conv", network.normal(4, 6, 1, 1, std=1.5), reads=pooled)
    by_head = network.add("Reshape", network.weight(np.array([2, 2, 3, 2])), reads=offsets)
    positions = network.add("Transpose", reads=by_head, perm=[0, 2, 3, 1])
    images = network.add("Reshape", network.weight(np.array([2, 3, 7, 9])), reads="input")
    network.add("GridSample", positions, reads=images, mode=mode, padding_mode="zeros", align_corners=0)
    network.add("Reshape", network.weight(np.array([1, 6, 3, 2])))
    return network


@pytest.mark.parametrize(("opset", "mode"), [(16, "bilinear"), (20, "linear")])
def test_heads_are_images_of_one_operator(tmp_path: Path, opset: int, mode: str) -> None:
    network = heads(opset, mode)
    network.add("Conv", network.normal(4, 6, 1, 1))
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal((1, 6, 7, 9)).astype(np.float32)

    graph = simplify(read_onnx(path))

    (sample,) = (operator for operator in graph.operators if isinstance(operator, GridSample))
    assert sample.images == 2
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-5


def test_positions_of_another_number_of_images_are_an_error(tmp_path: Path) -> None:
    network = heads(20, "linear")
    network.add("GridSample", "transpose_3", reads="input")

    with pytest.raises(
        ModelError, match=r"samples a tensor of shape \(1, 6, 7, 9\) at positions of shape \(2, 3, "
    ):
        read_onnx(network.save(tmp_path / "network.onnx"))
