"""The tests of single nodes in the package `onnx` that kernels alone compute, on a device."""

from pathlib import Path

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.layout import image_shape
from edged.engine.runtime import Runtime
from edged.model.graph import Float32, Graph
from edged.model.model_part import inner_part
from tests.conformance.node_cases import Array, NodeCase, node_cases
from tests.conformance.outcome import outcome


def computed_by_kernels() -> list[NodeCase]:
    return [case for cases in node_cases().values() for case in cases if outcome(case).result == "kernels"]


@pytest.mark.deep
def test_kernels_are_right(network_device: Device, programs_directory: Path) -> None:
    def compute(graph: Graph, x: Float32) -> Array:
        images = np.ascontiguousarray(x.reshape(len(x), *image_shape(graph.shapes[graph.input])))
        runtime = Runtime(inner_part(graph), network_device, batch=len(x), cache=programs_directory)
        return runtime.submit(images).wait().outputs

    cases = computed_by_kernels()

    assert len(cases) > 100
    assert [found for found in (outcome(case, compute) for case in cases) if found.result != "kernels"] == []
