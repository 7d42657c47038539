"""Events: everything that the hub publishes besides predictions, statuses and snapshots."""

from dataclasses import dataclass
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
    "journal_recovered",
    "config_reloaded",
    "model_changed",
    "model_promoted",
    "model_rolled_back",
    "teaching_started",
    "teaching_ended",
    "service_recovered",
}


@dataclass(frozen=True, slots=True)
class HubEvent:
    """An event: it is logged and published. `reason` names the cause for the metrics.

    `state`: of the event `state`.
    """

    event: EventName
    message: str
    camera: str | None = None
    worker: str | None = None
    reason: str = ""
    state: str | None = None

    @property
    def is_bad(self) -> bool:
        """Return whether the event is logged as a warning."""
        return self.event not in GOOD
