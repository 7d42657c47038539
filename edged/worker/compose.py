"""Compile the network into one launch while the worker serves, and use it where it is faster."""

import logging
import threading
import time

from edged.errors import DeviceError
from edged.runtime.base import ModelRuntime

AFTER_S = 3.0  # seconds of service: the first frames need the processor, and a worker may end at once

log = logging.getLogger("edged.worker")


def compose_in_background(runtime: ModelRuntime) -> None:
    """Start a thread that makes `runtime` faster if it can; the process may end before it."""
    threading.Thread(target=_compose, args=(runtime,), name="compose", daemon=True).start()


def _compose(runtime: ModelRuntime) -> None:
    time.sleep(AFTER_S)
    start = time.perf_counter()
    try:
        if runtime.compose(apart=True):
            log.debug("one launch a frame is possible, prepared in %.2f s", time.perf_counter() - start)
    except DeviceError as error:
        log.info("%s; the layers are launched one by one", error)
