"""A worker slot: one entry of `workers:`, its process, its losses, and when its device is tried again."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.config import RecoveryConfig
from edged.errors import OUT_OF_MEMORY, DeviceError
from edged.hub.children.child import NOT_STARTED, Budget, Child, describe_exit

# How soon a worker is back after each, in seconds, on a machine that has time. A start, from fork to hello, takes
# 0.6 to 1.1 with everything compiled, of which loading the program is 0.4 to 0.8; the first answer comes 0.1 s
# later. A spare (`children.spare`) begins to load at half of the deadline.
#   killed, crashed      seen at once                                + start
#   stopped              children.child.STOPPED_S 0.5                + start
#   deadline (endless)   freshness.deadline_s 1.5, or 5 warm-ups     + start - 0.8, what the spare has loaded
#   stuck                the same + seat.STUCK_WITHIN_S 0.15         + the same, for the next device
FAULTS = {
    "unreachable": "cannot be reached",
    "deadline": "held a job past its deadline",
    "device_error": "had a device that failed",
    "refused": "was refused",
    "start_timeout": "was not ready in time",
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


REAPED_WITHIN_S = 0.5  # after SIGKILL; a process that is still there is stuck in the kernel
STUCK_WITHIN_S = 0.15  # the same, where the kernel itself says so
RETIRES_WITHIN_S = 5.0
LOOKED_AT_S = 0.02  # how often whether one that retires has answered its jobs
LONGEST_WAIT_S = 3600.0


class WorkerSlot:
    """Off, starting, ready or retiring. It does not know of the others (see `choice`)."""

    def __init__(
        self,
        name: str,
        device: str,
        recovery: RecoveryConfig,
        new_child: Callable[[], Child],
        *,
        alone: bool = True,
    ) -> None:
        """`new_child`: a process of this worker that is not yet started, and due.

        `alone`: while it has one, nobody else can use the device.
        """
        self.name = name
        self.device = device
        self.alone = alone
        self.ready = False
        self.retires = False
        self._recovery = recovery
        self._new_child = new_child
        self._child: Child | None = None
        self._stuck: list[Child] = []
        self._cause = ""
        self._killed_ns: int | None = None
        self._state_ns = 0  # since when it has been ready, or retires
        self._returned = False  # its device was given up before
        self._retry_ns: int | None = None
        self._wait_s = recovery.retry_device_s
        self._budget = Budget(recovery.losses, recovery.within_s)

    @property
    def children(self) -> list[Child]:
        """Its processes: at most one that is not stuck."""
        return [child for child in (self._child, *self._stuck) if child and child.running]

    @property
    def warming_up_s(self) -> float | None:
        """For how long it has been starting; None where it does not."""
        starting = self._child and self._child.running and not self.ready
        return self._child.age_s if self._child and starting else None

    @property
    def rests(self) -> bool:
        """Whether it is off for no other reason than that nobody needs it."""
        return self._child is None and self._retry_ns is None

    @property
    def due_ns(self) -> int | None:
        """When a process is to be started, or to have ended."""
        if self.retires:
            return now_ns() + nanoseconds(LOOKED_AT_S)
        if self._child and self._killed_ns:
            waits_s = STUCK_WITHIN_S if seconds_since(self._killed_ns) < STUCK_WITHIN_S else REAPED_WITHIN_S
            return self._killed_ns + nanoseconds(waits_s)
        return self._child.next_step_ns if self._child else self._retry_ns

    def start(self) -> None:
        """Make its process due, where it has none."""
        self._child = self._child or self._new_child()
        self._retry_ns = None

    def says_hello(self) -> None:
        """Its worker is warm."""
        self.ready, self._state_ns = True, now_ns()

    def retire(self) -> None:
        """It gets no more jobs, and has a few seconds to end."""
        if self._child and self._child.running:
            self.retires, self._state_ns = True, now_ns()
        else:
            self.rest()

    def rest(self) -> None:
        """It is not needed until it is started again."""
        self._child, self._retry_ns, self.retires = None, None, False
        self.set_recovery(self._recovery)

    def set_recovery(self, recovery: RecoveryConfig) -> None:
        """Losses are counted anew."""
        self._recovery = recovery
        self._budget = Budget(recovery.losses, recovery.within_s)

    def change(self, device: str) -> None:
        """Its worker has other settings: what has become of it by those before counts no more."""
        self.device = device
        self._returned, self._wait_s = False, self._recovery.retry_device_s
        self.stop()

    def stop(self) -> None:
        """It is not needed, and what it has of its device somebody else may be waiting for."""
        starts = self.warming_up_s is not None
        self.retire()
        if starts:
            self.kill("")  # it does not listen yet

    def make_way(self) -> None:
        """The same for a later group. A device that was given up is still tried again at its time."""
        if self._retry_ns is None:
            self.stop()

    def give_up(self) -> float:
        """Its device is tried again after so many seconds, twice as many each time."""
        wait_s, self._wait_s = self._wait_s, min(2 * self._wait_s, LONGEST_WAIT_S)
        self._child, self._retry_ns = None, now_ns() + nanoseconds(wait_s)
        self._returned = True
        return wait_s

    def start_again(self) -> float:
        """Seconds until its next process is started."""
        self._child = self._child or self._new_child()
        return self._child.start_again()

    def kill(self, cause: str) -> None:
        """`cause`: a key of FAULTS; empty: its own end says why."""
        self._cause = self._cause or cause
        self._killed_ns = self._killed_ns or now_ns()
        if self._child:
            self._child.signal(signal.SIGKILL)

    def refuse(self) -> None:
        """Record that it was rejected, and ends."""
        self._cause = self._cause or "refused"

    def step(self, now: int) -> Loss | None:
        """Start what is due, kill what takes too long, reap what has ended."""
        self._bury_the_stuck(now)
        if self._child is None:
            return None
        if self._child.has_stood_still(now):
            self.kill("stopped")
        elif self._takes_too_long():
            self.kill("" if self.retires else "start_timeout")
        code = self._child.exit_code()
        if code is not None:
            return self._loss(code, cause_of(code, self._cause))
        if self._child.running and self._is_stuck(self._child):
            self._stuck.append(self._child)
            self._child = None
            return self._loss(None, "stuck")
        self._child.start_if_due(now)
        return None

    def _is_stuck(self, child: Child) -> bool:
        if not self._killed_ns:
            return False
        waited_s = seconds_since(self._killed_ns)
        return waited_s >= REAPED_WITHIN_S or (waited_s >= STUCK_WITHIN_S and child.is_in_the_kernel)

    def _bury_the_stuck(self, now: int) -> None:
        """The device is worth another try as soon as nobody hangs in it any more."""
        left = [child for child in self._stuck if child.exit_code() is None]
        if len(left) < len(self._stuck) and not left and self._retry_ns:
            self._retry_ns = now
        self._stuck = left

    def _takes_too_long(self) -> bool:
        if self.retires:
            return seconds_since(self._state_ns) > RETIRES_WITHIN_S
        return (self.warming_up_s or 0.0) > self._recovery.start_s

    def _loss(self, code: int | None, cause: str) -> Loss:
        lived_s = seconds_since(self._state_ns) if self.ready else 0.0
        was_tried = cause != "refused" and (code is None or code < NOT_STARTED)  # or the device is innocent
        used_up = was_tried and self._budget.lost(time.monotonic())
        cannot_start = code in {DeviceError.exit_code, OUT_OF_MEMORY} and not self.ready
        relapse = was_tried and self._returned and lived_s < self._recovery.within_s
        if lived_s >= self._recovery.within_s:
            self._returned, self._wait_s = False, self._recovery.retry_device_s
        self.ready, self._cause, self._killed_ns = False, "", None
        return Loss(
            cause, code, used_up or cannot_start or relapse or cause in {"start_timeout", "stuck", "refused"}
        )
