"""End a process together with the one that started it, however that ends."""

import ctypes
import os
import signal

PARENT = "EDGED_HUB_PID"  # the hub sets it for its children
ON_REQUEST = "--on-request"  # an option of `edged worker`: load everything, then wait for the index of the worker
PR_SET_PDEATHSIG = 1  # prctl(2)


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
