"""Run launches of training on a device: tensors, residents and scalars are given as arrays by what names them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.launch import Argument, Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor, from_memory, to_memory
from edged.engine.opencl import cl
from edged.engine.packed import pack
from tests.engine.lab import Lab

Array = NDArray[Any]


class Bench:
    """Buffers of some launches by argument; what is not given is NaN before."""

    def __init__(self, lab: Lab, launches: Sequence[Launch], given: Mapping[Argument, Array]) -> None:
        self._lab = lab
        self._kernels = [lab.programs.fitting(launch) for launch in launches]
        arguments = {argument for launch in launches for argument in launch.arguments}
        self._buffers = {
            argument: self._buffer(argument, given.get(argument))
            for argument in arguments
            if not isinstance(argument, Scalar)
        }

    def run(self, **scalars: np.generic) -> None:
        """Enqueue all, in order."""
        for launch, kernel in self._kernels:
            values = [
                scalars[argument.name] if isinstance(argument, Scalar) else self._buffers[argument]
                for argument in launch.arguments
            ]
            kernel.set_args(*values)
            size = launch.global_size(launch.frames)
            cl.enqueue_nd_range_kernel(self._lab.queue, kernel, size, launch.local_size, launch.offset)

    def image(self, tensor: Tensor) -> Array:
        """[frames, channels, height, width], once all around it is known to be zero."""
        memory = np.empty(tensor.nbytes // tensor.dtype.itemsize, tensor.dtype)
        cl.enqueue_copy(self._lab.queue, memory, self._buffers[tensor])
        image = from_memory(tensor, memory)
        assert image is not None, "the halo or a channel beyond the last is not zero"
        return image

    def floats(self, resident: Resident) -> Array:
        """What the buffer holds, as float32."""
        memory = np.empty(resident.nbytes // 4, np.float32)
        cl.enqueue_copy(self._lab.queue, memory, self._buffers[resident])
        return memory

    def _buffer(self, argument: Argument, given: Array | None) -> Any:
        if isinstance(argument, Weights):
            given = pack(argument)
        elif given is None:
            assert isinstance(argument, Tensor | Resident)
            return self._lab.unwritten(argument.nbytes)
        if isinstance(argument, Tensor):
            given = to_memory(argument, given.astype(np.float32))
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        return cl.Buffer(self._lab.context, flags, hostbuf=np.ascontiguousarray(given))
