"""Operators of steps: equal to the reference bit by bit, on every device."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edged.engine.device import Device
from edged.engine.planner import make_plan
from edged.engine.runtime import Runtime
from edged.engine.variants.quantize import DEQUANTIZE, QUANTIZE, QUANTIZED_ADD
from edged.engine.variants.quantized_naive import QUANTIZED_NAIVE
from edged.engine.variants.quantized_vector import QUANTIZED_VECTOR
from edged.engine.variants.variant import AnyVariant
from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import Dequantize, Float32, Graph, Quantize, QuantizedAdd, QuantizedConv
from edged.model.onnx_reader import read_onnx
from edged.model.package import Input
from edged.model.passes import simplify
from tests.engine.lab import Lab
from tests.engine.networks import random_images
from tests.model.quantized_files import SIZE, network_of_all_kinds

RANDOM = np.random.default_rng(0)
WANTED = Input(width=SIZE[1], height=SIZE[0], color="rgb", scale=1 / 255, mean=(0, 0, 0), std=(1, 1, 1))
BLOCKS = (4, pytest.param(8, marks=pytest.mark.deep), 16)


def steps(*shape: int, largest: int = 255) -> Float32:
    return RANDOM.integers(-largest, largest + 1, shape).astype(np.float32)


def conv(channels: tuple[int, int], window: tuple[int, int], **attributes: Any) -> QuantizedConv:
    inputs, outputs = channels
    weight = RANDOM.integers(-255, 256, (outputs, inputs // attributes.get("groups", 1), *window)).astype(np.int16)
    bias = RANDOM.integers(-(2**20), 2**20, outputs).astype(np.int32)
    factor = RANDOM.uniform(1e-5, 1e-4, outputs).astype(np.float32)
    return QuantizedConv("conv", ("x",), "y", weight, bias, factor, **attributes)


CONVOLUTIONS = {
    "3x3": (conv((20, 21), (3, 3), pads=(1, 1, 1, 1), bounds=(0, 255)), (2, 20, 9, 11)),
    "1x1": (conv((33, 24), (1, 1), bounds=(-128, 127)), (1, 33, 8, 5)),
    "strides": (conv((16, 8), (5, 3), strides=(2, 3), pads=(2, 0, 1, 1), bounds=(-3, 200)), (1, 16, 12, 13)),
    "depthwise": (conv((24, 24), (3, 3), pads=(1, 1, 1, 1), groups=24, bounds=(0, 255)), (1, 24, 7, 7)),
    "to floats": (conv((8, 10), (2, 2), activation=RELU), (1, 8, 6, 6)),
    "one pixel": (conv((70, 10), (1, 1), bounds=(-128, 127)), (3, 70, 1, 1)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("variant", [QUANTIZED_VECTOR, QUANTIZED_NAIVE], ids=["vector", "naive"])
def test_a_convolution_is_exact(lab: Lab, variant: AnyVariant, block: int, name: str) -> None:
    operator, shape = CONVOLUTIONS[name]
    x = steps(*shape)
    found = lab.compute(variant, operator, [x], block=block, steps=True)
    assert np.array_equal(found, reference.compute(operator, x))


@pytest.mark.parametrize("parameters", [(1, 1, 1), (2, 2, 3), (2, 1, 7)])
def test_every_tile_gives_the_same(lab: Lab, parameters: tuple[int, int, int]) -> None:
    operator, shape = CONVOLUTIONS["3x3"]
    x = steps(*shape)
    tile = dict(zip(("OUTS", "TILE_H", "TILE_W"), parameters, strict=True))
    found = lab.compute(QUANTIZED_VECTOR, operator, [x], block=8, parameters=tile, steps=True)
    assert np.array_equal(found, reference.compute(operator, x))


def test_steps_that_came_as_floats_are_convolved_as_well(lab: Lab) -> None:
    operator, shape = CONVOLUTIONS["3x3"]
    x = steps(*shape)
    assert not QUANTIZED_VECTOR.can_compute(lab.site(operator, [x]))
    assert np.array_equal(lab.compute(QUANTIZED_NAIVE, operator, [x]), reference.compute(operator, x))


@pytest.mark.parametrize("block", BLOCKS)
def test_values_become_steps_and_steps_values(lab: Lab, block: int) -> None:
    values = RANDOM.standard_normal((2, 21, 5, 7)).astype(np.float32)
    quantize = Quantize("quantize", ("x",), "y", 0.0173, (-100, 155))
    found = lab.compute(QUANTIZE, quantize, [values], block=block)
    assert np.array_equal(found, reference.compute(quantize, values))
    dequantize = Dequantize("dequantize", ("x",), "y", 0.0173)
    again = lab.compute(DEQUANTIZE, dequantize, [found], block=block, steps=True)
    assert np.array_equal(again, reference.compute(dequantize, found))


@pytest.mark.parametrize("block", BLOCKS)
def test_a_sum_is_exact(lab: Lab, block: int) -> None:
    add = QuantizedAdd("add", ("x", "z"), "y", (0.731, 1.37), (0, 255))
    inputs = [steps(2, 21, 25, 27), steps(2, 21, 25, 27)]
    found = lab.compute(QUANTIZED_ADD, add, inputs, block=block, steps=True)
    assert np.array_equal(found, reference.compute(add, *inputs))


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return simplify(read_onnx(network_of_all_kinds().save(tmp_path / "quantized.onnx")))


@pytest.mark.parametrize("precision", ["fp32", "fp16-weights", "fp16"])
def test_a_whole_network_is_exact(
    network_device: Device, programs_directory: Path, graph: Graph, precision: Any
) -> None:
    runtime = Runtime(graph, WANTED, network_device, batch=2, precision=precision, cache=programs_directory)
    images = random_images(WANTED, 2)
    expected = reference.run(graph, reference.prepare(images, WANTED))
    assert np.array_equal(runtime.submit(images).wait().outputs, expected)


def test_steps_are_kept_in_two_bytes(network_device: Device, graph: Graph) -> None:
    plan = make_plan(graph, WANTED, network_device)
    tensors = {tensor.name: tensor for launch in plan.launches for tensor in launch.tensors}
    assert tensors["quantizelinear_0"].dtype == np.int16
    assert tensors[graph.input].dtype == plan.output.dtype == np.float32
    half = make_plan(graph, replace(WANTED), network_device, precision="fp16")
    assert not any(tensor.half for launch in half.launches for tensor in launch.tensors if tensor.steps)


def test_a_quantized_network_is_composed_into_one_launch(
    network_device: Device, programs_directory: Path, graph: Graph
) -> None:
    runtime = Runtime(graph, WANTED, network_device, cache=programs_directory)
    assert runtime.compose() == (network_device.kind == "cpu")
