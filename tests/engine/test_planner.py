"""From a graph to kernels, for devices that need not be there."""

from dataclasses import replace

import pytest

from edged.engine.device import Device
from edged.engine.launch import kernels_of
from edged.engine.memory import lifetimes
from edged.engine.planner import make_plan
from edged.engine.selection import Rules
from edged.errors import ModelError
from edged.model.graph import BatchNorm
from edged.model.model_part import ModelPart
from edged.model.package import Input
from edged.model.resnet import random_resnet
from edged.model.shapes import make_graph
from tests.engine.lab import random
from tests.engine.networks import RGB, conv, small_network

CPU = Device("a platform", "a CPU", "cpu", "OpenCL 1.2", "1", 4, 2**30, 8, 128, True, False, (0, 0))
GPU = replace(CPU, name="a GPU", kind="gpu", vector_width=1)


def test_a_cpu_gets_its_registers_and_a_gpu_many_work_items() -> None:
    graph = small_network()

    for device, kernel, block in ((CPU, "conv_vector", 8), (GPU, "conv_general", 4)):
        plan = make_plan(ModelPart(graph, RGB), device)
        convolutions = [launch for launch in kernels_of(plan.launches) if launch.kernel.startswith("conv")]
        assert kernel in {launch.kernel for launch in convolutions}
        assert {launch.defines["OUT_BLOCK"] for launch in convolutions} == {block}


@pytest.mark.parametrize(("device", "block"), [(CPU, 1), (GPU, 4)], ids=["CPU", "GPU"])
def test_a_gpu_reads_all_channels_of_an_images_pixel_at_once(device: Device, block: int) -> None:
    prepare, first, *_ = kernels_of(make_plan(ModelPart(small_network(), RGB), device).launches)

    assert prepare.defines["OUT_BLOCK"] == first.defines["IN_BLOCK"] == block


@pytest.mark.parametrize("device", [CPU, GPU], ids=["CPU", "GPU"])
def test_only_a_kernel_that_reads_outside_the_image_gets_a_halo(device: Device) -> None:
    plan = make_plan(ModelPart(small_network(), RGB), device)

    with_halo = {t.name for launch in plan.launches for t in launch.tensors if t.rows > t.height}
    assert with_halo == {"image", "pool"}


def test_convolutions_of_equal_shape_are_compiled_once() -> None:
    model_input = Input(120, 120, "rgb", 1, (0, 0, 0), (1, 1, 1))
    plan = make_plan(ModelPart(random_resnet(50, 120, 120), model_input), CPU, chooser=Rules("vector"))

    programs = {(launch.kernel, launch.options) for launch in kernels_of(plan.launches)}
    assert len(plan.launches) == 57
    assert len(programs) <= 29


def test_memory_is_reused() -> None:
    plan = make_plan(ModelPart(random_resnet(18, 64, 48), replace(RGB, width=64, height=48)), CPU)

    spans = lifetimes(plan.launches)
    needed = [
        sum(t.nbytes for t, (first, last) in spans.items() if first <= i <= last)
        for i in range(len(plan.launches))
    ]
    assert plan.arena.size <= 1.1 * max(needed)


def test_a_batch_norm_that_was_not_folded_becomes_a_convolution() -> None:
    operators = (BatchNorm("norm", ("image",), "norm", random(3), random(3)), conv("c", ("norm",), (3, 5), 1))
    graph = make_graph("normed", "image", (3, 1, 1), operators)

    assert len(make_plan(ModelPart(graph, replace(RGB, width=1, height=1)), CPU).launches) == 3


def test_an_image_as_output_is_refused() -> None:
    graph = make_graph("segmentation", "image", (3, 8, 8), (conv("c", ("image",), (3, 5), 3),))

    with pytest.raises(ModelError, match=r"segmentation: the output c has the shape \(5, 8, 8\)"):
        make_plan(ModelPart(graph, replace(RGB, width=8, height=8)), CPU)
