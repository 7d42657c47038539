"""Networks with attention, norms and other sizes: kernels compute all of them."""

from pathlib import Path

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.graph import OnHost
from edged.model.model_part import inner_part
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import onnxruntime_outputs, relative_error
from tests.model.quantized_attention import attention, picture, quantized
from tests.model.quantized_files import node_by_node
from tests.model.token_networks import NETWORKS


@pytest.mark.deep
@pytest.mark.parametrize("name", NETWORKS)
def test_no_operator_is_left_for_the_host(
    network_device: Device, programs_directory: Path, tmp_path: Path, name: str
) -> None:
    network = NETWORKS[name]()
    path = network.save(tmp_path / "network.onnx")
    x = np.random.default_rng(0).standard_normal(tuple(map(int, network.shape))).astype(np.float32)
    expected = onnxruntime_outputs(path, x)

    graph = simplify(read_onnx(path))
    image = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if name == "channels last" else x
    runtime = Runtime(inner_part(graph), network_device, batch=2, cache=programs_directory)
    found = runtime.submit(image).wait().outputs.reshape(1, -1)

    assert not any(isinstance(operator, OnHost) for operator in graph.operators)
    assert relative_error(reference.run(graph, image), expected) < 1e-5
    assert relative_error(found, expected) < 1e-5


@pytest.mark.deep
def test_attention_of_int8_is_exact(network_device: Device, programs_directory: Path, tmp_path: Path) -> None:
    path = quantized(attention("gather"), tmp_path)

    graph = simplify(read_onnx(path))
    runtime = Runtime(inner_part(graph), network_device, cache=programs_directory)
    found = runtime.submit(picture()).wait().outputs.reshape(1, -1)

    assert relative_error(found, node_by_node(path, picture())) < 1e-2
