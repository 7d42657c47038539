"""Bytes of an image to the network's input."""

from dataclasses import replace

import pytest

from edged.engine.executable import Executable
from edged.engine.launch import Images
from edged.engine.layout import Tensor
from edged.engine.memory import arrange, lifetimes
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.engine.variants.prepare import prepare
from edged.model import reference
from edged.model.package import Input
from tests.engine.lab import SOME_HALO, Lab, assert_close
from tests.engine.networks import RGB, random_images

BGR = replace(RGB, color="bgr", scale=1.0, mean=(104.0, 117.0, 123.0), std=(1.0, 2.0, 3.0))
GRAY = replace(RGB, color="gray", mean=(0.4,), std=(0.3,))


@pytest.mark.parametrize("block", [1, 4, 16])
@pytest.mark.parametrize("wanted", [RGB, BGR, GRAY], ids=lambda wanted: wanted.color)
def test_pixels_are_scaled_and_ordered_as_the_model_wants(lab: Lab, block: int, wanted: Input) -> None:
    images = random_images(wanted, frames=2)
    target = Tensor("image", 2, wanted.channels, wanted.height, wanted.width, block, SOME_HALO)
    launch = prepare(Images(2, wanted.height, wanted.width), wanted, target, lab.device)
    plan = Plan(Images(2, wanted.height, wanted.width), (launch,), target, arrange(lifetimes([launch]), 128))
    executable = Executable(plan, lab.context, lab.device, lab.programs)
    lab.poison(executable, plan)

    cl.enqueue_copy(lab.queue, executable.images[0], images)
    executable.forward[0][0].enqueue(lab.queue, frames=2)

    assert_close(lab.output(executable, target), reference.prepare(images, wanted))
