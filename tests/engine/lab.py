"""Run one operator by one variant on a device, in memory where every float was NaN before."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.device import Device, open_device
from edged.engine.executable import Executable
from edged.engine.launch import Images
from edged.engine.layout import Element, Halo, Tensor, from_memory, to_memory
from edged.engine.memory import arrange, lifetimes
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.engine.programs import Binaries, Programs
from edged.engine.variants.variant import AnyVariant, Parameters, Site
from edged.model import reference
from edged.model.graph import Operator
from tests.compiled import compiled_by

Float32 = NDArray[np.float32]

RANDOM = np.random.default_rng(0)  # each test starts with a state of its own: see conftest.py
PLAIN = "plain"
SOME_HALO = Halo(1, 2, 3, 0)
STEPS = {Element.SHORT, Element.BYTE}
# of channels; all but one of the sizes are for the deep tests
BLOCKS = (4, pytest.param(1, marks=pytest.mark.deep), pytest.param(16, marks=pytest.mark.deep))
CLOSE = 1e-5  # of the range of the values
CLOSE_BY_WINOGRAD = 5e-5  # its transforms round more


def random(*shape: int) -> Float32:
    """Normally distributed values."""
    return RANDOM.standard_normal(shape, np.float32)


class Lab:
    """A device with a queue and a cache of programs."""

    def __init__(self, device: Device, programs: Path) -> None:
        self.device = device
        self.context = cl.Context([open_device(device)])
        self.queue = cl.CommandQueue(self.context)
        self.programs = Programs(self.context, device, Binaries(programs))

    def site(
        self,
        operator: Operator,
        inputs: Sequence[Float32],
        *,
        block: int = 4,
        input_block: int | None = None,
        half_weights: bool = False,
        element: Element = Element.FLOAT32,
    ) -> Site[Any]:
        """Where `operator` reads `inputs`, each [frames, channels, height, width] or [frames, features].

        `element`: how all tensors store their numbers, but for those that are steps on one side alone.
        """
        blocks = [input_block or block, *(block for _ in inputs[1:])]
        sources = tuple(map(partial(tensor_of, element=element), operator.inputs, inputs, blocks))
        target = output_of(operator, inputs, block, element)
        return Site(operator, sources, target, self.device, half_weights)

    def compute(
        self,
        variant: AnyVariant,
        operator: Operator,
        inputs: Sequence[Float32],
        *,
        parameters: Parameters | None = None,
        **layout: Any,
    ) -> Float32:
        """What `variant` makes of `inputs`; `layout` is as for `site`.

        The output has a halo, and the test fails unless the halo and the channels beyond the last are zero.
        """
        bare = self.site(operator, inputs, **layout)
        parameters = parameters or variant.parameters(bare)[0]
        source = replace(bare.inputs[0], halo=variant.reach(bare, parameters))
        target = replace(bare.output, halo=SOME_HALO)
        site = replace(bare, inputs=(source, *bare.inputs[1:]), output=target)
        launches = variant.launches(site, parameters)
        all_along = dict.fromkeys(lifetimes(launches), (0, len(launches)))  # the inputs are there from the start
        plan = Plan(Images(1, 1, 1), launches, site.output, arrange(all_along, self.device.alignment))
        executable = self.executable(plan)
        self.poison(executable, plan)
        for tensor, x in zip(site.inputs, inputs, strict=True):
            cl.enqueue_copy(self.queue, executable.memory_of(tensor), to_memory(tensor, x))
        for step in executable.forward[0]:
            step.enqueue(self.queue, len(inputs[0]))
        return self.output(executable, target).reshape(reference.compute(operator, *inputs).shape)

    def executable(self, plan: Plan) -> Executable:
        return Executable(plan, self.context, self.device, self.programs)

    def output(self, executable: Executable, tensor: Tensor) -> Float32:
        """The image in `tensor`, [frames, channels, height, width], once all around it is known to be zero."""
        memory = np.empty(tensor.nbytes // tensor.dtype.itemsize, tensor.dtype)
        cl.enqueue_copy(self.queue, memory, executable.output)
        image = from_memory(tensor, memory)
        assert image is not None, "the halo or a channel beyond the last is not zero"
        return image

    def unwritten(self, nbytes: int) -> Any:
        """A buffer in which every float is NaN."""
        content = np.full(nbytes, 255, np.uint8)
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=content)

    def poison(self, executable: Executable, plan: Plan) -> None:
        """Fill the arena with NaN: a kernel that reads what nobody wrote cannot hide it."""
        for launch in plan.launches:
            for tensor in launch.tensors:
                ones = np.full(tensor.nbytes, 255, np.uint8)  # NaN, and no step that a test writes
                cl.enqueue_copy(self.queue, executable.memory_of(tensor), ones)


def lab_with(device: Device, instruction: str) -> Lab:
    """A device that multiplies by this dot product alone, or by plain OpenCL C; skips where it cannot."""
    if instruction not in (PLAIN, *device.instructions):
        pytest.skip(f"no dot product {instruction} on {device.name}")
    usable = () if instruction == PLAIN else (instruction,)
    return Lab(replace(device, instructions=usable), compiled_by("programs"))


def assert_close(found: Float32, expected: NDArray[Any], tolerance: float = CLOSE) -> None:
    """Equal within `tolerance` of the expected values' range."""
    largest = np.abs(expected).max()
    assert np.abs(found - expected).max() <= tolerance * max(largest, 1e-30)


def output_of(operator: Operator, inputs: Sequence[NDArray[Any]], block: int, element: Element) -> Tensor:
    """Where an operator writes: steps, which need not be bytes, or numbers."""
    expected = reference.compute(operator, *inputs)
    bounds = getattr(operator, "bounds", None)
    if bounds is None:
        return tensor_of(operator.output, expected, block, Element.FLOAT32 if element in STEPS else element)
    written = element if element in STEPS else Element.SHORT
    lowest = min(0, bounds[0]) if written is Element.BYTE else 0
    return replace(tensor_of(operator.output, expected, block, written), lowest=lowest)


def tensor_of(name: str, x: NDArray[Any], block: int, element: Element = Element.FLOAT32) -> Tensor:
    """Where such numbers lie."""
    frames, channels, height, width = (*x.shape, 1, 1)[:4]
    lowest = int(x.min(initial=0)) if element is Element.BYTE else 0
    return Tensor(name, frames, channels, height, width, block, element=element, lowest=lowest)
