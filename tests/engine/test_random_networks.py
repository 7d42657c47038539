"""Random networks on a device, whose kernels and host operators follow one another in any order."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.model_part import inner_part
from edged.model.onnx_reader import read_onnx
from edged.model.passes import simplify
from tests.model.onnx_files import Network
from tests.model.random_networks import image_of, networks

FEW = settings(
    max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.deep
def test_each_answers_as_the_reference_does(network_device: Device, programs_directory: Path) -> None:
    @FEW
    @given(networks())
    def each(network: Network) -> None:
        with TemporaryDirectory() as folder:
            graph = simplify(read_onnx(network.save(Path(folder) / "network.onnx")))
        if not graph.operators or graph.output == graph.input:
            return
        x = np.concatenate([image_of(network, seed) for seed in range(3)]).reshape(3, *graph.shapes[graph.input])
        expected = reference.run(graph, x, np.float64)

        runtime = Runtime(inner_part(graph), network_device, batch=3, cache=programs_directory)
        found = runtime.submit(x).wait().outputs.reshape(3, -1)

        assert np.allclose(found, expected, rtol=1e-3, atol=1e-4 * max(1.0, float(np.abs(expected).max())))

    each()
