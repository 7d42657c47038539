"""Memory that host and device use without commands between them.

Shared virtual memory of fine grain (OpenCL 2.0, 5.6.1).
"""

from typing import Any

import numpy as np

from edged.engine.device import Device
from edged.engine.opencl import cl


def shares_memory(device: Device, context: Any) -> bool:
    """Return whether the device is a CPU whose driver offers that; the memory is coherent, hence slow on a GPU."""
    try:
        capabilities = context.devices[0].svm_capabilities if device.kind == "cpu" else 0
    except cl.Error:  # OpenCL 1.2 does not know the question
        return False
    return bool(capabilities & cl.device_svm_capabilities.FINE_GRAIN_BUFFER)


def shared_buffer(context: Any, nbytes: int) -> Any:
    """Return a buffer over such memory, whose `hostbuf` is that memory, uint8 [nbytes]. Raises cl.Error."""
    memory: Any = cl.fsvm_empty(context, nbytes, np.dtype(np.uint8))
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, hostbuf=memory)
