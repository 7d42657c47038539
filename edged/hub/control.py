"""What others of this host ask of a hub that runs: `edged reload`, `profile --attach`, `trace` and `teach`."""

from edged.clock import now_ns, wall_s
from edged.hub.events import HubEvent
from edged.hub.links.peers import Received
from edged.hub.recorder import Recordings
from edged.hub.reload import Reload
from edged.hub.systemd_service import Service
from edged.hub.teaching.promotion import Versions
from edged.hub.teaching.session import Teaching
from edged.hub.wiring import Components
from edged.messages import (
    ClockAnswer,
    ClockRequest,
    Greeting,
    ProfileRequest,
    PromoteRequest,
    RecorderHello,
    ReloadAnswer,
    ReloadRequest,
    Stop,
    TeachRequest,
    TraceBatch,
    TraceRequest,
    protocol_problem,
)

CONTROL_PEERS = (
    "reload/",
    "profile/",
    "trace/",
    "teach/",
)  # on the private link alone: no such name comes from outside


class ControlRequests:
    """Beside what the pipeline itself has to say, which is not for here."""

    def __init__(self, parts: Components, service: Service, reload: Reload) -> None:
        self._links = parts.links
        self._service = service
        self._reload = reload
        self._reload_askers: list[str] = []
        self.recordings = Recordings(parts)
        self._teaching = Teaching(parts)
        self._versions = Versions(parts)

    def take(self, received: Received) -> list[HubEvent] | None:
        """What comes of a message; None where it is the pipeline's."""
        if received.peer.startswith(CONTROL_PEERS):
            return self._answer(received)
        match received.message:
            case RecorderHello() | TraceBatch():
                self.recordings.heard(received)
                return []
            case ClockRequest(sent_ns=sent_ns) if received.peer.startswith("worker/"):
                answer = ClockAnswer(sent_ns=sent_ns, hub_ns=now_ns(), hub_at=wall_s())
                self._links.send(received.peer, answer)
                return []
        return None

    def step(self, now: int) -> list[HubEvent]:
        """At each turn of the loop; what has happened."""
        self.recordings.step(now)
        return [*self._step_reload(now), *self._teaching.step(now), *self._versions.step()]

    def next_ns(self) -> int | None:
        """When `step` has something to do though nothing comes."""
        each = (
            self._reload.next_ns,
            self.recordings.next_ns(),
            self._teaching.next_ns(),
            self._versions.next_ns(),
        )
        return min((at for at in each if at is not None), default=None)

    def close(self) -> None:
        """The hub ends: those who have asked hear of it."""
        self.recordings.close()
        self._teaching.close()
        for asker in self._reload_askers:
            self._links.send(asker, ReloadAnswer(accepted=False, message="the daemon ends"))

    def reload(self) -> None:
        """Have the config read again; `step` says what comes of it."""
        if self._reload.next_ns is None:
            self._service.reload_begins()
        self._reload.ask(now_ns())

    def _step_reload(self, now: int) -> list[HubEvent]:
        notice = self._reload.step(now)
        if notice is None:
            return []
        self._service.reload_ends()
        askers, self._reload_askers = self._reload_askers, []
        for asker in askers:
            self._links.send(asker, ReloadAnswer(accepted=not notice.is_bad, message=notice.message))
        return [notice]

    def _answer(self, received: Received) -> list[HubEvent]:
        if isinstance(received.message, Greeting) and (problem := protocol_problem(received.message)):
            self._links.send(received.peer, Stop(refused=problem))
            return []
        match received.message:
            case ReloadRequest():
                self._reload_askers.append(received.peer)
                self.reload()
            case (ProfileRequest() | TraceRequest()) as request:
                self.recordings.asked(received.peer, request)
            case TeachRequest() as request:
                return self._teaching.asked(received.peer, request)
            case PromoteRequest() as request:
                self._versions.asked(received.peer, request)
            case Stop():
                self.recordings.left(received.peer)
                return self._teaching.left(received.peer)
        return []
