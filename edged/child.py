"""What a process that a hub has started owes it: to end when the hub does, however the hub ends."""

import ctypes
import os
import signal

PARENT = "EDGED_HUB_PID"  # the hub sets it for its children
PR_SET_PDEATHSIG = 1  # prctl(2)


def end_with_parent() -> bool:
    """Let the kernel kill this process once its hub has died, even while it hangs in a driver.

    Call it first of all. Does nothing, and returns False, in a process that no hub has started.
    """
    parent = os.environ.get(PARENT)
    if parent is None:
        return False
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):  # it died before the call
        os.kill(os.getpid(), signal.SIGKILL)
    return True
