"""A network in parts, each with a runtime of its own: the answers are those of the whole, to the bit."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.model.cuts import cut_after, part
from edged.model.graph import Float32, Graph
from edged.model.model_part import ModelPart, inner_part
from edged.model.package import Input
from edged.model.passes import simplify
from edged.model.resnet import random_resnet
from tests.engine.networks import RGB, random_images, small_network

WANTED = replace(RGB, width=64, height=48)
GRAPH = simplify(random_resnet(18, 64, 48))


@pytest.mark.parametrize(
    ("whole", "model_input", "until", "precision"),
    [
        pytest.param(GRAPH, WANTED, "stem.conv", "fp32", marks=pytest.mark.deep),
        pytest.param(GRAPH, WANTED, "stage1.block1", "fp32", marks=pytest.mark.deep),
        pytest.param(GRAPH, WANTED, "stage4", "fp32", marks=pytest.mark.deep),
        pytest.param(small_network(), RGB, "pool", "fp16", marks=pytest.mark.deep),
        (small_network(), RGB, "relu", "fp16-weights"),
    ],
    ids=["stem.conv", "stage1.block1", "stage4", "pool-fp16", "relu-fp16-weights"],
)
def test_two_parts_answer_as_the_whole_does(
    network_device: Device,
    programs_directory: Path,
    whole: Graph,
    model_input: Input,
    until: str,
    precision: Precision,
) -> None:
    cut, images = cut_after(whole, until), random_images(model_input, 3)

    def runtime(what: ModelPart) -> Runtime:
        return Runtime(what, network_device, batch=4, precision=precision, cache=programs_directory)

    first = runtime(inner_part(part(whole, None, cut), model_input))
    second = runtime(inner_part(part(whole, cut, None)))
    between = first.submit(images).wait().outputs
    assert between.size == 3 * math.prod(cut.shape)
    answer = second.submit(between.reshape(3, *cut.shape)).wait().outputs
    assert np.array_equal(answer, runtime(ModelPart(whole, model_input)).submit(images).wait().outputs)


@pytest.mark.deep
def test_features_cross_to_and_from_a_device_with_memory_of_its_own(
    network_device: Device, programs_directory: Path
) -> None:
    cut, images = cut_after(GRAPH, "stage1"), random_images(WANTED, 2)

    def between(unified: bool) -> Float32:
        memory = replace(network_device, unified_memory=unified)
        first = Runtime(inner_part(part(GRAPH, None, cut), WANTED), memory, batch=4, cache=programs_directory)
        second = Runtime(ModelPart(part(GRAPH, cut, None), None), memory, batch=4, cache=programs_directory)
        return second.submit(first.submit(images).wait().outputs).wait().outputs

    assert np.array_equal(between(unified=False), between(unified=True))


def test_a_part_refuses_what_is_not_the_tensor_of_its_cut(
    network_device: Device, programs_directory: Path
) -> None:
    whole = small_network()
    behind = inner_part(part(whole, cut_after(whole, "pool"), None))
    second = Runtime(behind, network_device, batch=4, cache=programs_directory)
    with pytest.raises(ValueError, match=r"uint8 \(1, 39, 31, 3\); expected float32 1…4 × \(20, 10, 8\)"):
        second.submit(random_images(RGB, 1))
