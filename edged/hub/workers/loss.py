"""The end of a worker's process, and why."""

from dataclasses import dataclass

from edged.errors import OUT_OF_MEMORY
from edged.hub.children.child import describe_exit

# How soon a worker is back after each, in seconds, on a machine that has time. A start, from fork to hello, takes
# 0.6 to 1.1 with everything compiled, of which loading the program is 0.4 to 0.8; the first answer comes 0.1 s
# later. A spare (`children.spare`) begins to load at half of the deadline.
#   killed, crashed      seen at once                                + start
#   stopped              children.child.STOPPED_S 0.5                + start
#   deadline (endless)   freshness.deadline_s 1.0, or 5 warm-ups     + start - 0.5, what the spare has loaded
#   stuck                the same + seat.STUCK_WITHIN_S 0.15         + the same, for the next device
FAULTS = {
    "away": "cannot be reached",
    "deadline": "held a job past its deadline",
    "device_error": "had a device that failed",
    "refused": "was refused",
    "start": "was not ready in time",
    "stopped": "was stopped by a signal",
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
