"""Attention of int8: its tensors have other axes than images, also none for the batch."""

from pathlib import Path

import numpy as np
import pytest

from edged.model import reference
from edged.model.graph import OnHost, Quantize
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error
from tests.model.quantized_attention import DIM, PARTS, TOKENS, attention, picture, quantized
from tests.model.quantized_files import QuantizedNetwork, node_by_node
from tests.model.token_networks import integers


@pytest.mark.parametrize("parts", PARTS)
def test_a_quantized_block_is_that_of_onnxruntime_and_kernels_compute_all_of_it(
    tmp_path: Path, parts: str
) -> None:
    path = quantized(attention(parts), tmp_path)

    graph = simplify(read_onnx(path))

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert sum(isinstance(operator, Quantize) for operator in graph.operators) > 10
    assert relative_error(reference.run(graph, picture()), node_by_node(path, picture())) < 1e-2


@pytest.mark.parametrize("kind", ["Gemm", "MatMul"])
def test_a_layer_of_the_rows_of_a_frame_without_an_axis_for_the_batch(tmp_path: Path, kind: str) -> None:
    network = Network([1, DIM, TOKENS, 1])
    network.add("Reshape", integers(network, TOKENS, DIM))
    bias = [network.normal(5)] if kind == "Gemm" else []
    network.add(kind, network.normal(DIM, 5), *bias)
    network.add("Reshape", integers(network, 1, 5 * TOKENS))
    path = network.save(tmp_path / "rows.onnx")
    x = np.random.default_rng(1).standard_normal((1, DIM, TOKENS, 1)).astype(np.float32)

    graph = simplify(read_onnx(path))

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, x), onnxruntime_outputs(path, x)) < 1e-6


def test_integers_without_an_axis_for_the_batch_may_have_two_zero_points(tmp_path: Path) -> None:
    network = QuantizedNetwork([1, 2, 3, 4])
    network.add("Reshape", integers(network, 2, 3, 4))
    network.add("Transpose", perm=[1, 0, 2])
    scale = network.weight(np.array(0.05, np.float32))
    network.add("QuantizeLinear", scale, network.weight(np.array(10, np.uint8)))
    network.add("DequantizeLinear", scale, network.weight(np.array(7, np.uint8)))
    network.add("Gather", network.weight(np.array(2, np.int64)), axis=0)
    network.add("Reshape", integers(network, 1, 8))
    path = network.save(tmp_path / "zeros.onnx")
    x = np.random.default_rng(1).standard_normal((1, 2, 3, 4)).astype(np.float32)

    assert relative_error(reference.run(simplify(read_onnx(path)), x), node_by_node(path, x)) < 1e-6
