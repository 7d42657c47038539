"""Lets a worker launch a kernel that never returns, get an OpenCL error, or hang in the kernel, once told to.

Python imports this at its start where the folder is on PYTHONPATH. EDGED_TEST_FAULT: a file that is taken
away by the worker whose next job is the one; it holds `endless`, `error`, or the
path of a file to write, on a disk that is frozen.
"""

import os
import sys
from pathlib import Path
from typing import Any

ENDLESS = "kernel void endless(global volatile int *zero) { while (*zero == 0) {} }"


def break_jobs(trigger: Path) -> None:
    import numpy as np

    from edged.engine.opencl import cl
    from edged.engine.runtime import Runtime
    from edged.errors import DeviceError

    submit = Runtime.submit

    def breaking(runtime: Any, images: Any) -> Any:
        if trigger.exists():
            fault = trigger.read_text()
            trigger.unlink()
            if fault == "error":
                raise DeviceError("CL_OUT_OF_RESOURCES, as a driver says it")
            if fault != "endless":
                Path(fault).write_text("this never gets there")
            queue = runtime._compute
            zero = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4)
            cl.enqueue_fill_buffer(queue, zero, np.zeros(1, np.int32), 0, 4)
            cl.Program(queue.context, ENDLESS).build().endless(queue, (1,), (1,), zero)
        return submit(runtime, images)

    Runtime.submit = breaking  # type: ignore[method-assign,assignment]


if "worker" in sys.orig_argv and "EDGED_TEST_FAULT" in os.environ:
    break_jobs(Path(os.environ["EDGED_TEST_FAULT"]))
