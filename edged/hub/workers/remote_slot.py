"""A slot for a worker on another host: the hub can neither start nor kill it, only wait for it."""

from collections.abc import Sequence

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.config import RecoveryConfig
from edged.hub.children.child import Child
from edged.hub.workers.slot import Loss

AWAY_S = 2.0  # seconds at the start, or after a loss; then the next group takes over
# a worker that returns must be connected for so long before it serves again, longer after each relapse
STEADY_S = 1.0
LONGEST_STEADY_S = 60.0


class RemoteWorkerSlot:
    """A worker on another host, with the interface of a `WorkerSlot`."""

    def __init__(self, name: str, device: str, recovery: RecoveryConfig) -> None:
        self.name = name
        self.device = device
        self.alone = False  # its device is none of this host's
        self.compiles = True
        self.overdue_ns: int | None = None
        self.retires = False
        self.rests = False
        self.children: Sequence[Child] = ()
        self.warming_up_s: float | None = None
        self._recovery = recovery
        self._here_ns: int | None = None  # time since which it is connected
        self._asked_ns = now_ns()
        self._cause = ""
        self._steady_s = 0.0
        self._is_reported = False

    @property
    def ready(self) -> bool:
        """Return whether it may serve."""
        return self._here_ns is not None and seconds_since(self._here_ns) >= self._steady_s

    @property
    def due_ns(self) -> int | None:
        """Return when `step` may report something, or `ready` becomes true."""
        if self._here_ns is not None:
            return None if self.ready else self._here_ns + nanoseconds(self._steady_s)
        return None if self._is_reported else self._asked_ns + nanoseconds(AWAY_S)

    def start(self) -> None:
        """Expect it: if it is not connected soon, that is a loss."""
        if self._is_reported:
            self._asked_ns, self._is_reported = now_ns(), False

    def says_hello(self) -> None:
        """Record that it is connected, or has answered after all."""
        self._here_ns = self._here_ns or now_ns()

    def retire(self) -> None:
        """Give it no more jobs; its process continues."""

    def stop(self) -> None:
        """Give it no more jobs, as `retire`."""

    def yield_device(self) -> None:
        """Give it no more jobs, as `retire`."""

    def rest(self) -> None:
        """Stop expecting it until it is started again."""

    def give_up(self) -> float:
        """Yield to another worker; return how long it must be connected before it serves again."""
        self._steady_s = min(max(STEADY_S, 2 * self._steady_s), LONGEST_STEADY_S)
        return self._steady_s

    def start_again(self) -> float:
        """Serve as soon as it is connected, since no other worker does."""
        self._asked_ns, self._is_reported = now_ns(), True
        return 0.0

    def set_recovery(self, recovery: RecoveryConfig) -> None:
        """Count losses anew, with these limits."""
        self._recovery = recovery

    def change(self, device: str) -> None:
        """Do nothing: its settings are in its host's file, and apply when it is started again there."""
        self.device = device

    def kill(self, cause: str) -> None:
        """Record that it is unreachable, or exceeds a job's deadline.

        `cause` as for a `WorkerSlot`; empty: it has left.
        """
        self._cause = cause or "unreachable"

    def refuse(self) -> None:
        """Record that it was refused, which is no loss if it is not expected."""
        if not self._is_reported:
            self._cause = "refused"

    def step(self, now: int) -> Loss | None:
        """Return its loss, if there is one."""
        if self._cause:
            return self._lost(self._cause)
        if self._here_ns is None and not self._is_reported and now - self._asked_ns > nanoseconds(AWAY_S):
            return self._lost("unreachable")
        if self.ready and seconds_since(self._here_ns or now) > self._recovery.within_s:
            self._steady_s = 0.0
        return None

    def _lost(self, cause: str) -> Loss:
        self._here_ns, self._cause, self._is_reported = None, "", True
        return Loss(cause, None, is_final=True)
