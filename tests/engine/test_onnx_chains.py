"""Chains of ONNX nodes on a device, as a part of a network: kernels between kernels, and onnxruntime's answers."""

from pathlib import Path

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model.model_part import inner_part
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_chains import CHAINS, ON_HOST
from tests.model.onnx_files import Network, onnxruntime_outputs, relative_error


@pytest.mark.deep
@pytest.mark.parametrize("chain", [*CHAINS, *ON_HOST])
def test_each_answers_as_onnxruntime_does(
    network_device: Device, programs_directory: Path, tmp_path: Path, chain: str
) -> None:
    batch = 1 if chain == "windows without a batch" else 2
    network = Network([batch, 4, 9, 10])
    (CHAINS | ON_HOST)[chain](network)
    network.add("Flatten")
    path = network.save(tmp_path / "chain.onnx")
    x = np.random.default_rng(0).standard_normal((batch, 4, 9, 10)).astype(np.float32)

    graph = simplify(read_onnx(path))
    runtime = Runtime(inner_part(graph), network_device, batch=2, cache=programs_directory)
    found = runtime.submit(x).wait().outputs.reshape(batch, -1)

    assert relative_error(found, onnxruntime_outputs(path, x)) < 1e-5
