"""Bytes of an image to the network's input."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.executable import Executable
from edged.engine.launch import Images, Launch
from edged.engine.layout import Element, Tensor
from edged.engine.memory import arrange, lifetimes
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.engine.variants.prepare import prepare, prepare_steps
from edged.model import reference
from edged.model.graph import Quantize
from edged.model.package import Input
from tests.engine.lab import CLOSE, SOME_HALO, Float32, Lab, assert_close
from tests.engine.networks import RGB, random_images

BGR = replace(RGB, color="bgr", scale=1.0, mean=(104.0, 117.0, 123.0), std=(1.0, 2.0, 3.0))
GRAY = replace(RGB, color="gray", mean=(0.4,), std=(0.3,))


@pytest.mark.parametrize("block", [1, pytest.param(4, marks=pytest.mark.deep), 16])
@pytest.mark.parametrize("model_input", [RGB, BGR, GRAY], ids=lambda model_input: model_input.color)
def test_pixels_are_scaled_and_ordered_as_the_model_wants(lab: Lab, block: int, model_input: Input) -> None:
    images = random_images(model_input, frames=2)
    target = Tensor("image", 2, model_input.channels, model_input.height, model_input.width, block, SOME_HALO)
    launch = prepare(Images(2, model_input.height, model_input.width), model_input, target, lab.device)

    assert_close(computed(lab, launch, target, images), reference.prepare(images, model_input))


@pytest.mark.parametrize("element", [Element.FLOAT32, Element.FLOAT16])
@pytest.mark.parametrize("model_input", [RGB, BGR, GRAY], ids=lambda model_input: model_input.color)
def test_a_work_item_of_a_gpu_writes_all_channels_of_a_pixel(
    lab: Lab, element: Element, model_input: Input
) -> None:
    images = random_images(model_input, frames=2)
    shape = (model_input.channels, model_input.height, model_input.width)
    target = Tensor("image", 2, *shape, 4, SOME_HALO, element)
    gpu = replace(lab.device, kind="gpu")
    launch = prepare(Images(2, model_input.height, model_input.width), model_input, target, gpu)

    tolerance = CLOSE if element is Element.FLOAT32 else 1e-3
    assert launch.defines["RUN"] == 1
    assert_close(computed(lab, launch, target, images), reference.prepare(images, model_input), tolerance)


@pytest.mark.parametrize("block", [1, pytest.param(4, marks=pytest.mark.deep), 16])
@pytest.mark.parametrize("element", [Element.BYTE, Element.SHORT])
@pytest.mark.parametrize("model_input", [RGB, BGR, GRAY], ids=lambda model_input: model_input.color)
def test_pixels_become_the_steps_of_the_reference(
    lab: Lab, block: int, element: Element, model_input: Input
) -> None:
    images = random_images(model_input, frames=2)
    quantize = Quantize("quantize", ("image",), "steps", 0.0173, (-100, 155))
    tensor = Tensor(
        "steps", 2, model_input.channels, model_input.height, model_input.width, block, SOME_HALO, element
    )
    target = replace(tensor, lowest=-100 if element is Element.BYTE else 0)
    launch = prepare_steps(
        Images(2, model_input.height, model_input.width), model_input, quantize, target, lab.device
    )

    expected = reference.compute(quantize, reference.prepare(images, model_input))
    assert np.array_equal(computed(lab, launch, target, images), expected)


def computed(lab: Lab, launch: Launch, target: Tensor, images: NDArray[np.uint8]) -> Float32:
    """What the kernel makes of two images."""
    batch = Images(2, *images.shape[1:3])
    plan = Plan(batch, (launch,), target, arrange(lifetimes([launch]), 128))
    executable = Executable(plan, lab.context, lab.device, lab.programs)
    lab.poison(executable, plan)
    cl.enqueue_copy(lab.queue, executable.images[0], images)
    executable.forward[0][0].enqueue(lab.queue, frames=2)
    return lab.output(executable, target)
