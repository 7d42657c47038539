"""A worker slot: one entry of `workers:`, with its process, its losses, and when its device is tried again."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.config import RecoveryConfig
from edged.errors import OUT_OF_MEMORY, DeviceError
from edged.hub.children.child import Budget, Child
from edged.system.process_end import NOT_STARTED, describe_exit

# How soon a worker is back after each fault, in seconds, on an idle machine. A start, from fork to hello, takes
# 0.6 to 1.1 with everything compiled, of which loading the program is 0.4 to 0.8; the first answer comes 0.1 s
# later. A spare (`children.spare`) begins to load at half of the deadline.
#   killed, crashed      seen at once                                + start
#   stopped              children.child.STOPPED_S 0.5                + start
#   deadline (endless)   freshness.deadline_s 1.5, or 5 warm-ups     + start - 0.8, what the spare has loaded
#   stuck                the same + slot.STUCK_WITHIN_S 0.15         + the same, for the next device
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
    """The end of a worker's process. `is_final`: its device must be given up.

    `code`: None while it is stuck, and for a worker on another host, which the hub cannot kill.
    """

    cause: str
    code: int | None
    is_final: bool

    def __str__(self) -> str:
        """Format as `was killed by SIGKILL` or `held a job past its deadline and was killed`."""
        fault = FAULTS.get(self.cause, "")
        if self.code is None or self.cause == "refused":
            return fault
        return f"{fault} and was killed" if fault else describe_exit(self.code)


def cause_of(code: int, cause: str) -> str:
    """Return why a worker ended.

    `cause`: why the hub has killed it, if it has; it may have run out of memory before.
    """
    if code == OUT_OF_MEMORY:
        return "out_of_memory"
    return cause or ("exit" if code >= 0 else "signal")


STARTS_IN_S = 1.5  # seconds that a start takes at most with everything compiled, on an idle machine
REAPED_WITHIN_S = 0.5  # seconds after SIGKILL; a process that still exists is stuck in the kernel
STUCK_WITHIN_S = 0.15  # and if the kernel itself reports that
RETIRES_WITHIN_S = 5.0
LOOKED_AT_S = 0.02  # seconds between two checks whether a retiring worker has answered its jobs
LONGEST_WAIT_S = 3600.0


class WorkerSlot:
    """A slot that is off, starting, ready or retiring, without knowledge of the others (see `failover`)."""

    def __init__(
        self,
        name: str,
        device: str,
        recovery: RecoveryConfig,
        new_child: Callable[[], Child],
        *,
        alone: bool = True,
        compiles: bool = True,
        starts_in_s: float = STARTS_IN_S,
    ) -> None:
        """`new_child`: creates a process of this worker, due but not yet started.

        `alone`: no other process can use the device meanwhile. `compiles`: it needs kernels, which may take
        minutes at a first start. `starts_in_s`: how long its first start may take before another worker stands in.
        """
        self.name = name
        self.device = device
        self.alone = alone
        self.compiles = compiles
        self.ready = False
        self.retires = False
        self._recovery = recovery
        self._new_child = new_child
        self._child: Child | None = None
        self._stuck: list[Child] = []
        self._cause = ""
        self._killed_ns: int | None = None
        self._starts_in_s = starts_in_s
        self._state_ns = 0  # since when it has been ready, or has been retiring
        self._returned = False  # its device was given up before
        self._retry_ns: int | None = None
        self._wait_s = recovery.retry_device_s
        self._budget = Budget(recovery.losses, recovery.within_s)

    @property
    def children(self) -> list[Child]:
        """Return its processes: at most one that is not stuck."""
        return [child for child in (self._child, *self._stuck) if child and child.running]

    @property
    def warming_up_s(self) -> float | None:
        """Return for how long it has been starting; None if it is not."""
        starting = self._child and self._child.running and not self.ready
        return self._child.age_s if self._child and starting else None

    @property
    def overdue_ns(self) -> int | None:
        """Return from when on it has been starting for so long that it may compile; None if it does not."""
        if self._child is None or self.warming_up_s is None or not self.compiles:
            return None
        return self._child.started_ns + nanoseconds(self._starts_in_s)

    @property
    def rests(self) -> bool:
        """Return whether it is off because it is not needed."""
        return self._child is None and self._retry_ns is None

    @property
    def due_ns(self) -> int | None:
        """Return when a process must be started, or must have ended."""
        if self.retires:
            return now_ns() + nanoseconds(LOOKED_AT_S)
        if self._child and self._killed_ns:
            waits_s = STUCK_WITHIN_S if seconds_since(self._killed_ns) < STUCK_WITHIN_S else REAPED_WITHIN_S
            return self._killed_ns + nanoseconds(waits_s)
        return self._child.next_step_ns if self._child else self._retry_ns

    def start(self) -> None:
        """Make its process due, if it has none."""
        self._child = self._child or self._new_child()
        self._retry_ns = None

    def says_hello(self) -> None:
        """Record that its worker is ready."""
        self.ready, self._state_ns = True, now_ns()
        self._starts_in_s = STARTS_IN_S

    def retire(self) -> None:
        """Give it no more jobs, and a few seconds to end."""
        if self._child and self._child.running:
            self.retires, self._state_ns = True, now_ns()
        else:
            self.rest()

    def rest(self) -> None:
        """Switch it off until it is started again."""
        self._child, self._retry_ns, self.retires = None, None, False
        self.set_recovery(self._recovery)

    def set_recovery(self, recovery: RecoveryConfig) -> None:
        """Count losses anew, with these limits."""
        self._recovery = recovery
        self._budget = Budget(recovery.losses, recovery.within_s)

    def change(self, device: str) -> None:
        """Apply other settings of its worker: earlier losses no longer count."""
        self.device = device
        self._returned, self._wait_s = False, self._recovery.retry_device_s
        self.stop()

    def stop(self) -> None:
        """End its process soon: another one may be waiting for the device."""
        starts = self.warming_up_s is not None
        self.retire()
        if starts:
            self.kill("")  # it does not receive messages yet

    def yield_device(self) -> None:
        """Stop it for a later group, but keep the time at which a device that was given up is tried again."""
        if self._retry_ns is None:
            self.stop()

    def give_up(self) -> float:
        """Give the device up; return seconds until it is tried again, doubled each time."""
        wait_s, self._wait_s = self._wait_s, min(2 * self._wait_s, LONGEST_WAIT_S)
        self._child, self._retry_ns = None, now_ns() + nanoseconds(wait_s)
        self._returned = True
        return wait_s

    def start_again(self) -> float:
        """Restart its process; return seconds until then."""
        self._child = self._child or self._new_child()
        return self._child.start_again()

    def kill(self, cause: str) -> None:
        """Kill its process. `cause`: a key of FAULTS; empty: its exit code is the reason."""
        self._cause = self._cause or cause
        self._killed_ns = self._killed_ns or now_ns()
        if self._child:
            self._child.signal(signal.SIGKILL)

    def refuse(self) -> None:
        """Record that it was refused; it ends by itself."""
        self._cause = self._cause or "refused"

    def step(self, now: int) -> Loss | None:
        """Start what is due, kill what exceeds its time, reap what has ended."""
        self._reap_stuck(now)
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

    def _reap_stuck(self, now: int) -> None:
        """Try the device again as soon as no process hangs in it any more."""
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
        was_tried = cause != "refused" and (code is None or code < NOT_STARTED)  # or the device is not the cause
        used_up = was_tried and self._budget.lost(time.monotonic())
        cannot_start = code in {DeviceError.exit_code, OUT_OF_MEMORY} and not self.ready
        relapse = was_tried and self._returned and lived_s < self._recovery.within_s
        if lived_s >= self._recovery.within_s:
            self._returned, self._wait_s = False, self._recovery.retry_device_s
        self.ready, self._cause, self._killed_ns = False, "", None
        return Loss(
            cause, code, used_up or cannot_start or relapse or cause in {"start_timeout", "stuck", "refused"}
        )
