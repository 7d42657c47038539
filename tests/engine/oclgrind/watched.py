"""`oclgrind … python -m tests.engine.oclgrind.watched VARIANT`, or `network`: kernels while Oclgrind watches.

Prints a line for each run, so that whoever started it sees that there was something to watch.
"""

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from edged.engine.device import Device, find_device
from edged.engine.executable import HOST_VISIBLE, Executable
from edged.engine.layout import Tensor
from edged.engine.opencl import cl
from edged.engine.planner import Plan
from edged.engine.runtime import Runtime
from edged.engine.variants import VARIANTS
from edged.engine.variants.variant import AnyVariant, Parameters
from edged.model import reference
from edged.model.model_part import ModelPart
from tests.engine.lab import Lab, assert_close
from tests.engine.networks import RGB, random_images, small_network
from tests.engine.oclgrind.cases import Small, small_ones

CLOSE = 1e-2  # of the range: other tests are strict about the arithmetic, these about memory


class WatchedLab(Lab):
    """Memory that nobody wrote stays so, for Oclgrind to see it read."""

    def poison(self, executable: Executable, plan: Plan) -> None:
        """Write nothing."""

    def unwritten(self, nbytes: int) -> Any:
        """Write nothing."""
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, nbytes)


def use_buffers_of_their_own() -> None:
    """Put no tensors into a common arena: Oclgrind watches the ends of buffers, not those of parts of one."""

    @cache
    def memory_of(executable: Executable, tensor: Tensor) -> Any:
        return cl.Buffer(executable._context, cl.mem_flags.READ_WRITE | HOST_VISIBLE, tensor.nbytes)

    Executable.memory_of = memory_of  # type: ignore[method-assign]


def main(name: str) -> None:
    """Run what `name` says, in the ways that suit a GPU and a CPU."""
    use_buffers_of_their_own()
    oclgrind = find_device("oclgrind")
    with TemporaryDirectory() as programs:
        for device in (oclgrind, replace(oclgrind, kind="cpu", vector_width=16)):
            if name == "network":
                run_network(device, Path(programs))
            else:
                run_variant(name, WatchedLab(device, Path(programs)))


def run_network(device: Device, programs: Path) -> None:
    """Every operator once, as the planner puts them together."""
    graph, images = small_network(), random_images(RGB)
    runtime = Runtime(ModelPart(graph, RGB), device, cache=programs)
    found = runtime.submit(images).wait().outputs
    assert_close(found, reference.run(graph, reference.prepare(images, RGB)), CLOSE)
    if device.kind == "cpu":
        assert runtime.compose()  # which computes a picture in either form, and compares
    print("network", graph.name, device.kind, flush=True)


def run_variant(name: str, lab: Lab) -> None:
    """Every small operator that the variant can compute; with half-stored weights by its best guess alone."""
    kind, variant = next((kind, one) for kind, ones in VARIANTS.items() for one in ones if one.name == name)
    for small in small_ones(kind):
        for half_weights in (False, True) if hasattr(small.operator, "weight") else (False,):
            site = small.site(lab.device, half_weights)
            if variant.can_compute(site):
                for parameters in some_of(variant.parameters(site)[: 1 if half_weights else None]):
                    run(lab, variant, small, parameters, half_weights)


def some_of(parameters: tuple[Parameters, ...]) -> list[Parameters]:
    """The best guess, the last one, and one between."""
    return [parameters[index] for index in sorted({0, len(parameters) // 2, len(parameters) - 1})]


def run(lab: Lab, variant: AnyVariant, small: Small, parameters: Parameters, half_weights: bool) -> None:
    """Compare with the reference, and say so."""
    found = lab.compute(
        variant,
        small.operator,
        small.inputs,
        block=small.block,
        input_block=small.input_block,
        parameters=parameters,
        half_weights=half_weights,
        element=small.element,
    )
    assert_close(found, reference.compute(small.operator, *(x.astype(np.float64) for x in small.inputs)), CLOSE)
    print(variant.name, lab.device.kind, [x.shape for x in small.inputs], dict(parameters), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
