"""One candidate, ready to solve a problem on the device: is it right, and how long does it take?"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.arrays import Floats, from_memory, to_memory
from edged.engine.choice import Choice
from edged.engine.executable import HOST_VISIBLE
from edged.engine.layout import Halo, Tensor
from edged.engine.opencl import cl, device_errors
from edged.engine.tuning.problem import Problem
from edged.engine.tuning.rig import Rig

NEXT_READS = Halo(1, 1, 1, 1)  # what most readers of an output want around it


class Trial:
    """`choice` built for `problem` on `rig`. Raises DeviceError if the driver refuses it."""

    def __init__(self, rig: Rig, problem: Problem, choice: Choice) -> None:
        self.choice = choice
        self._rig, self._problem = rig, problem
        site = problem.site
        reach = choice.variant.reach(site, choice.parameters)
        first, *others = (replace(tensor, name=f"input {i}") for i, tensor in enumerate(site.inputs))
        sources = (replace(first, halo=reach), *others)
        self._output = replace(site.output, halo=NEXT_READS)
        launches = choice.variant.launches(replace(site, inputs=sources, output=self._output), choice.parameters)
        self._tensors = {tensor for launch in launches for tensor in launch.tensors}
        self._executable = rig.executable(launches)
        self._inputs = [
            (self._executable.memory_of(tensor), self._upload(to_memory(tensor, x)))
            for tensor, x in zip(sources, problem.inputs, strict=True)
        ]

    def error(self) -> float:
        """Of the answer, from memory where every float was NaN, as a share of the range. Raises DeviceError."""
        with self._errors():
            for tensor in self._tensors:
                self._poison(tensor)
            self._write_inputs()
            self._run()
            memory = np.empty(self._output.nbytes // self._output.dtype.itemsize, self._output.dtype)
            cl.enqueue_copy(self._rig.queue, memory, self._executable.memory_of(self._output))
        return self._problem.error(from_memory(self._output, memory))

    def seconds(self) -> float:
        """From the start of its first kernel to the end of its last, by the device's clock. Raises DeviceError.

        As in a whole network: other data has passed through the caches, then the inputs were written.
        """
        with self._errors():
            self._rig.sweep()
            self._write_inputs()
            events = self._run()
            events[-1].wait()
            return float(events[-1].profile.end - events[0].profile.start) * 1e-9

    def _run(self) -> list[Any]:
        return self._rig.run(self._executable, self._output.frames)

    def _write_inputs(self) -> None:
        for memory, pristine in self._inputs:
            cl.enqueue_copy(self._rig.queue, memory, pristine)

    def _poison(self, tensor: Tensor) -> None:
        nan: NDArray[Any] = np.array(np.nan, tensor.dtype)
        cl.enqueue_fill_buffer(self._rig.queue, self._executable.memory_of(tensor), nan, 0, tensor.nbytes)

    def _upload(self, memory: Floats) -> Any:
        flags = cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
        with self._errors():
            return cl.Buffer(self._rig.context, flags, hostbuf=memory)

    def _errors(self) -> Any:
        return device_errors(self._rig.device.name, f"trying {self.choice.variant.name}")
