"""One entry of `workers:` that serves on another host: the hub can neither start nor kill it, only wait for it."""

from collections.abc import Sequence

from edged.clock import nanoseconds, now_ns, seconds_since
from edged.config import RecoveryConfig
from edged.hub.children.child import Child
from edged.hub.workers.seat import Loss

AWAY_S = 2.0  # at the start, or after a loss; then the next group takes over
STEADY_S = 1.0  # it must have been there for so long before it serves again, and ever longer while it relapses
LONGEST_STEADY_S = 60.0


class RemoteWorkerSlot:
    """Away or here; what a `WorkerSlot` is for a worker on this host."""

    def __init__(self, name: str, device: str, recovery: RecoveryConfig) -> None:
        self.name = name
        self.device = device
        self.alone = False  # whatever its device is, none of ours is the same
        self.retires = False
        self.rests = False
        self.children: Sequence[Child] = ()
        self.warming_up_s: float | None = None
        self._recovery = recovery
        self._here_ns: int | None = None  # since when, by what it has said
        self._asked_ns = now_ns()
        self._cause = ""
        self._steady_s = 0.0
        self._told = False

    @property
    def ready(self) -> bool:
        """Whether it may serve."""
        return self._here_ns is not None and seconds_since(self._here_ns) >= self._steady_s

    @property
    def due_ns(self) -> int | None:
        """When `step` may have something to say, or `ready` becomes true."""
        if self._here_ns is not None:
            return None if self.ready else self._here_ns + nanoseconds(self._steady_s)
        return None if self._told else self._asked_ns + nanoseconds(AWAY_S)

    def start(self) -> None:
        """It is needed: if it is not there soon, that is a loss."""
        if self._told:
            self._asked_ns, self._told = now_ns(), False

    def says_hello(self) -> None:
        """It is there, or there again, or has answered after all."""
        self._here_ns = self._here_ns or now_ns()

    def retire(self) -> None:
        """It gets no more jobs, and stays where it is."""

    def stop(self) -> None:
        """The same."""

    def make_way(self) -> None:
        """The same."""

    def rest(self) -> None:
        """It is not needed until it is started again."""

    def give_up(self) -> float:
        """Another one serves: how long it must have been there before it does so again."""
        self._steady_s = min(max(STEADY_S, 2 * self._steady_s), LONGEST_STEADY_S)
        return self._steady_s

    def start_again(self) -> float:
        """Nobody else serves: it does so as soon as it is there."""
        self._asked_ns, self._told = now_ns(), True
        return 0.0

    def set_recovery(self, recovery: RecoveryConfig) -> None:
        """Losses are counted anew."""
        self._recovery = recovery

    def change(self, device: str) -> None:
        """Its settings are those of its own file, when it is started again there."""
        self.device = device

    def kill(self, cause: str) -> None:
        """It cannot be reached, or holds a job too long. `cause` as for a `WorkerSlot`; empty: it has gone."""
        self._cause = cause or "unreachable"

    def refuse(self) -> None:
        """It is of no use; once nobody waits for it any more that is no loss."""
        if not self._told:
            self._cause = "refused"

    def step(self, now: int) -> Loss | None:
        """What has become of it."""
        if self._cause:
            return self._lost(self._cause)
        if self._here_ns is None and not self._told and now - self._asked_ns > nanoseconds(AWAY_S):
            return self._lost("unreachable")
        if self.ready and seconds_since(self._here_ns or now) > self._recovery.within_s:
            self._steady_s = 0.0
        return None

    def _lost(self, cause: str) -> Loss:
        self._here_ns, self._cause, self._told = None, "", True
        return Loss(cause, None, is_final=True)
