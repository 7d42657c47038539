"""Whole quantized networks: equal to the reference bit by bit, on every device."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.instructions import AVX_VNNI
from edged.engine.layout import Element
from edged.engine.planner import make_plan
from edged.engine.runtime import Runtime
from edged.model import reference
from edged.model.graph import Graph
from edged.model.model_part import ModelPart
from edged.model.onnx_reader import read_onnx
from edged.model.package import Input
from edged.model.passes import simplify
from edged.model.quantized_passes import step_tensors
from tests.engine.networks import random_images
from tests.model.quantized_files import SIZE, network_of_all_kinds, network_with_silu

WANTED = Input(width=SIZE[1], height=SIZE[0], color="rgb", scale=1 / 255, mean=(0, 0, 0), std=(1, 1, 1))
ROUNDED = ("fp16-weights", "fp16", "bf16")


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return simplify(read_onnx(network_of_all_kinds().save(tmp_path / "quantized.onnx")))


@pytest.mark.parametrize("precision", ["fp32", *(pytest.param(each, marks=pytest.mark.deep) for each in ROUNDED)])
def test_a_whole_network_is_exact(
    network_device: Device, programs_directory: Path, graph: Graph, precision: Any
) -> None:
    runtime = Runtime(
        ModelPart(graph, WANTED), network_device, batch=2, precision=precision, cache=programs_directory
    )
    images = random_images(WANTED, 2)
    expected = reference.run(graph, reference.prepare(images, WANTED))
    assert np.array_equal(runtime.submit(images).wait().outputs, expected)


def test_a_network_with_steps_of_an_activation_is_right_but_for_values_between_two_steps(
    network_device: Device, programs_directory: Path, tmp_path: Path
) -> None:
    graph = simplify(read_onnx(network_with_silu().save(tmp_path / "silu.onnx")))
    runtime = Runtime(ModelPart(graph, WANTED), network_device, batch=2, cache=programs_directory)
    images = random_images(WANTED, 2)

    found = runtime.submit(images).wait().outputs

    expected = reference.run(graph, reference.prepare(images, WANTED))
    assert np.mean(np.abs(found - expected) < 1e-3 * np.ptp(expected)) > 0.95


@pytest.mark.parametrize(("instructions", "dtype"), [((), np.int16), ((AVX_VNNI,), np.uint8)])
def test_steps_are_bytes_where_the_device_multiplies_bytes(
    network_device: Device, graph: Graph, instructions: tuple[str, ...], dtype: type
) -> None:
    plan = make_plan(ModelPart(graph, WANTED), replace(network_device, instructions=instructions))
    tensors = {tensor.name: tensor for launch in plan.launches for tensor in launch.tensors}
    assert tensors["quantizelinear_0"].dtype == dtype
    assert plan.output.dtype == np.float32
    assert plan.prepared == tensors["quantizelinear_0"]  # pictures become steps at once


def test_steps_are_not_halved(network_device: Device, graph: Graph) -> None:
    half = make_plan(ModelPart(graph, WANTED), replace(network_device, instructions=()), precision="fp16")
    tensors = {tensor.name: tensor for launch in half.launches for tensor in launch.tensors}
    assert {tensor.element for name, tensor in tensors.items() if name in step_tensors(graph)} == {Element.SHORT}
    assert any(tensor.element is Element.FLOAT16 for tensor in tensors.values())


@pytest.mark.deep  # compilers of other runtimes than PoCL take minutes for it
def test_a_quantized_network_is_composed_into_one_launch(
    network_device: Device, programs_directory: Path, graph: Graph
) -> None:
    runtime = Runtime(ModelPart(graph, WANTED), network_device, cache=programs_directory)
    assert runtime.compose() == (network_device.kind == "cpu")
