"""Events: everything that the hub publishes besides predictions, statuses and snapshots.

A refused peer is an event only once: a process that restarts repeatedly reports the same.
"""

from dataclasses import dataclass, field
from typing import Literal

EventName = Literal[
    "camera_up",
    "camera_down",
    "camera_lost",
    "camera_ended",
    "camera_frozen",
    "camera_unfrozen",
    "state",
    "worker_up",
    "worker_lost",
    "worker_stuck",
    "worker_retired",
    "device_retried",
    "stand_in",
    "stand_in_ended",
    "fallback",
    "refused",
    "job_failed",
    "journal_quarantined",
    "journal_removed",
    "peer_rejected",
    "config_reloaded",
    "config_refused",
    "journal_failed",
    "journal_recovered",
    "model_changed",
    "model_promoted",
    "model_rolled_back",
    "model_refused",
    "teaching_started",
    "teaching_ended",
    "service_failed",
    "service_recovered",
]

GOOD = {
    "camera_up",
    "camera_ended",
    "camera_unfrozen",
    "state",
    "worker_up",
    "worker_retired",
    "device_retried",
    "stand_in",
    "stand_in_ended",
    "journal_recovered",
    "config_reloaded",
    "model_changed",
    "model_promoted",
    "model_rolled_back",
    "teaching_started",
    "teaching_ended",
    "service_recovered",
}
LOST_EVENTS = {"camera_lost", "worker_lost"}
UP_EVENTS = {"camera_up", "worker_up"}
REFUSALS_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class HubEvent:
    """An event: it is logged and published. `reason` names the cause for the metrics.

    `state`: of the event `state`; `name`: which of the camera's `present` and `count` has it; None: its labels.
    """

    event: EventName
    message: str
    camera: str | None = None
    worker: str | None = None
    reason: str = ""
    state: str | None = None
    name: str | None = None

    @property
    def is_bad(self) -> bool:
        """Return whether the event is logged as a warning."""
        return self.event not in GOOD


@dataclass(frozen=True, slots=True)
class Refusal:
    """A camera or worker, by its name on the link, that cannot be used as it is; `problem`: why."""

    peer: str
    problem: str

    def notice(self) -> HubEvent:
        """Return the text for people."""
        kind, _, name = self.peer.partition("/")
        message = f"{kind} {name} is refused: {self.problem}"
        if kind == "camera":
            return HubEvent("refused", message, camera=name)
        return HubEvent("refused", message, worker=name or None)


@dataclass(eq=False)
class Refusals:
    """Refusals by name on the link.

    An entry is removed once the peer is accepted, or refused for another reason.
    """

    _reported: dict[str, str] = field(default_factory=dict)
    _lost: set[str] = field(default_factory=set)  # whose end was reported since then

    def is_news(self, notice: HubEvent) -> bool:
        """Return whether to report it. Call it once for each notice."""
        peer = f"worker/{notice.worker}" if notice.worker else f"camera/{notice.camera}"
        if notice.event in UP_EVENTS:
            self._forget(peer)
        elif notice.event == "refused":
            is_known = self._reported.get(peer) == notice.message
            if not is_known:
                self._forget(peer)
                self._reported[peer] = notice.message
                if len(self._reported) > REFUSALS_REMEMBERED:
                    self._forget(next(iter(self._reported)))
            return not is_known
        elif notice.event in LOST_EVENTS and peer in self._reported:
            is_known = peer in self._lost
            self._lost.add(peer)
            return not is_known
        return True

    def _forget(self, peer: str) -> None:
        self._reported.pop(peer, None)
        self._lost.discard(peer)
