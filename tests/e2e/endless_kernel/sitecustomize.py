"""Lets a worker launch a kernel that never returns, or one without numbers, or hang in the kernel, once told to.

Python imports this at its start where the folder is on PYTHONPATH. EDGED_TEST_FAULT: a file that is taken
away by the worker whose next job is the one; it holds `endless`, `not a number`, or the
path of a file to write, on a disk that is frozen.
EDGED_TEST_SKEW: a file that is taken away by the next camera or worker that starts, which is of another version to
the hub; once it has greeted, the same name with `.greeted` is there.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

ENDLESS = "kernel void endless(global volatile int *zero) { while (*zero == 0) {} }"


def break_jobs(trigger: Path) -> None:
    from edged.runtime.threads import multiply_in_one_thread

    multiply_in_one_thread()  # as the worker does before it loads NumPy, which it now finds loaded
    import numpy as np

    from edged.engine.one_launch import LaunchForm
    from edged.engine.opencl import cl
    from edged.engine.runtime import Runtime

    submit = Runtime.submit
    spoiled = []

    def never_return(runtime: Any) -> None:
        queue = runtime._compute
        zero = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4)
        cl.enqueue_fill_buffer(queue, zero, np.zeros(1, np.int32), 0, 4)
        cl.Program(queue.context, ENDLESS).build().endless(queue, (1,), (1,), zero)

    def spoil_weights(runtime: Any) -> None:
        """From now on the last kernel finds NaN on the device where its weights were."""
        slots, queue = runtime._executable.forward, runtime._compute
        runtime._composer._compositions = ()  # jobs stay layer by layer
        runtime._forward = {LaunchForm.BY_LAYER: slots}
        last = slots[0][-1]
        for place, buffer in enumerate(last.buffers[: last.kernel.num_args]):
            if buffer.flags & cl.mem_flags.READ_ONLY:
                nan = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, buffer.size)
                cl.enqueue_fill_buffer(queue, nan, np.full(1, np.nan, np.float32), 0, buffer.size)
                spoiled.append(nan)  # a kernel keeps no buffer alive
                for steps in slots:
                    steps[-1].kernel.set_arg(place, nan)

    faults = {"endless": never_return, "not a number": spoil_weights}

    def breaking(runtime: Any, images: Any, **wanted: Any) -> Any:
        if trigger.exists():
            fault = trigger.read_text()
            trigger.unlink()
            faults.get(fault, lambda _: Path(fault).write_text("this never gets there"))(runtime)
        return submit(runtime, images, **wanted)

    Runtime.submit = breaking  # type: ignore[method-assign,assignment]


def be_another_version(trigger: Path) -> None:
    """Say another protocol in the greeting."""
    try:
        trigger.unlink()
    except FileNotFoundError:  # another process was quicker
        return
    from edged.messages import encode
    from edged.transport import unix_hub_link, zmq_hub_link

    def encode_as_another(message: Any) -> bytes:
        trigger.with_suffix(".greeted").touch()
        return re.sub(rb'("protocol":"?)\w+', rb"\g<1>999", encode(message))

    for link in (unix_hub_link, zmq_hub_link):
        setattr(link, "encode", encode_as_another)  # noqa: B010


if {"camera", "worker"} & set(sys.orig_argv) and Path(os.environ.get("EDGED_TEST_SKEW", "/none")).exists():
    be_another_version(Path(os.environ["EDGED_TEST_SKEW"]))
if "worker" in sys.orig_argv and "EDGED_TEST_FAULT" in os.environ:
    break_jobs(Path(os.environ["EDGED_TEST_FAULT"]))
