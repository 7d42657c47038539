"""Decide when a process ends: together with its parent, but not in the middle of writing."""

import ctypes
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from edged.errors import OUT_OF_MEMORY

PARENT = "EDGED_HUB_PID"  # the hub sets it for its children
ON_REQUEST = "--on-request"  # an option of `edged worker`: load everything, then wait for the index of the worker
PR_SET_PDEATHSIG = 1  # prctl(2)
NUMBERS = (signal.SIGINT, signal.SIGTERM)
NOT_STARTED = 1000  # plus the errno of fork or exec, in place of an exit code, which is at most 255


def end_with_parent() -> bool:
    """Make the kernel kill this process once its hub has died, even while it hangs in a driver.

    Call it first of all. Does nothing, and returns False, in a process that no hub has started.
    """
    parent = os.environ.get(PARENT)
    if parent is None:
        return False
    die_with(int(parent))
    return True


def die_with(parent: int) -> None:
    """Make the kernel kill this process once `parent`, which started it, has died."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Handle SIGINT and SIGTERM after the block. Only the main thread is ever interrupted, so others need none.

    By handlers, not by a mask: the system gives a masked signal to another thread, such as one of an OpenCL
    runtime, and Python then runs the handler in the main thread all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def wait(number: int, _frame: FrameType | None) -> None:
        received.append(number)

    before = {number: signal.signal(number, wait) for number in NUMBERS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])


@contextmanager
def killed_after(seconds: float) -> Iterator[None]:
    """Have this process killed by SIGALRM unless the block ends within `seconds`.

    The kernel does it, so it works while a driver computes and holds the interpreter's lock. One block at a time.
    """
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def describe_exit(code: int) -> str:
    """`was killed by SIGKILL`, `ended with exit code 1`."""
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    if code >= NOT_STARTED:
        return f"could not be started: {os.strerror(code - NOT_STARTED)}"
    if code == OUT_OF_MEMORY:
        return "ran out of memory"
    return f"ended with exit code {code}"
