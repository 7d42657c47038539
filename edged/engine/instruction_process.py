"""The process that tries an instruction: it fails where the device's compiler or the processor lacks it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.apart import read_request
from edged.engine.device import Device, open_device
from edged.engine.instructions import AVX512_BF16, LANES, LOWEST, NUMBERS
from edged.engine.layout import bfloat16_bits
from edged.engine.opencl import cl
from edged.engine.programs import build, compiler_options, source_of
from edged.errors import DeviceError

Array = NDArray[Any]


def main() -> None:
    """Serve one request."""
    device, request = read_request()
    try_instruction(device, request["instruction"])


def try_instruction(device: Device, name: str) -> None:
    """Compute exact products and sums. Raises DeviceError if they are wrong, or what the compiler raises."""
    random, lanes = np.random.default_rng(0), LANES[name]
    if name == AVX512_BF16:
        a, b = random.integers(-8, 9, (2, lanes, 2))
        memory: list[Array] = [bfloat16_bits(numbers.astype(np.float32)) for numbers in (a, b)]
    else:
        a, b = random.integers(0, 256, (lanes, 4)), random.integers(-128, 128, (lanes, 4))
        memory = [a.astype(np.uint8), b.astype(np.int8)]
    sums = np.arange(lanes, dtype=np.float32 if name == AVX512_BF16 else np.int32)
    expected = sums + ((a + LOWEST.get(name, 0)) * b).sum(axis=1)
    if not np.array_equal(_on_device(device, name, memory, sums), expected):
        raise DeviceError(f"{name} computes wrongly")


def _on_device(device: Device, name: str, numbers: Sequence[Array], sums: Array) -> Array:
    context = cl.Context([open_device(device)])
    queue = cl.CommandQueue(context)
    kind = "float" if sums.dtype == np.float32 else "int"
    options = [*compiler_options(device), f"-DDOT={NUMBERS[name]}", f"-DLANES={LANES[name]}", f"-DSUM={kind}"]
    kernel = cl.Kernel(build(cl.Program(context, source_of("dot_trial")), options), "dot_trial")
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(x)) for x in (*numbers, sums)]
    kernel.set_args(*buffers)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    found = np.empty_like(sums)
    cl.enqueue_copy(queue, found, buffers[2])
    return found


if __name__ == "__main__":
    main()
