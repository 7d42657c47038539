"""The end of a worker's process, and why."""

from dataclasses import dataclass

from edged.errors import OUT_OF_MEMORY
from edged.hub.children.child import describe_exit

FAULTS = {
    "away": "cannot be reached",
    "deadline": "held a job past its deadline",
    "device_error": "had a device that failed",
    "refused": "was refused",
    "start": "was not ready in time",
    "stuck": "was killed and does not end",
}


@dataclass(frozen=True, slots=True)
class Loss:
    """The end of a worker's process. `is_final`: its device is to be given up.

    `code`: None while it is stuck, and of a worker on another host, which no hub can kill.
    """

    cause: str
    code: int | None
    is_final: bool

    def __str__(self) -> str:
        """`was killed by SIGKILL`, `held a job past its deadline and was killed`."""
        fault = FAULTS.get(self.cause, "")
        if self.code is None or self.cause == "refused":
            return fault
        return f"{fault} and was killed" if fault else describe_exit(self.code)


def cause_of(code: int, cause: str) -> str:
    """Why a worker ended. `cause`: why the hub has killed it, if it has; it may have run out of memory before."""
    if code == OUT_OF_MEMORY:
        return "out_of_memory"
    return cause or ("exit" if code >= 0 else "signal")
