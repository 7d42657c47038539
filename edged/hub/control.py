"""Requests of other programs to a running hub: `edged reload`, `profile --attach`, `trace` and `teach`."""

from edged.clock import now_ns
from edged.hub.events import HubEvent
from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.recorder import Recordings
from edged.hub.reload import Reload
from edged.hub.systemd_service import Service
from edged.hub.teaching.promotion import Versions
from edged.hub.teaching.session import Teaching
from edged.messages import (
    Greeting,
    ProfileRequest,
    PromoteRequest,
    ReloadAnswer,
    ReloadRequest,
    Stop,
    TeachRequest,
    TraceRequest,
    protocol_problem,
)


class ControlRequests:
    """Serves these requests.

    `is_active`: one is in progress, and `step` must be called at each turn of the loop.
    """

    def __init__(
        self,
        links: Links,
        service: Service,
        reload: Reload,
        recordings: Recordings,
        teaching: Teaching,
        versions: Versions,
    ) -> None:
        self.is_active = False
        self.recordings = recordings
        self._links = links
        self._service = service
        self._reload = reload
        self._reload_clients: list[str] = []
        self._teaching = teaching
        self._versions = versions

    def handle_message(self, received: Received) -> list[HubEvent]:
        """Handle a message of a client. One of another version is refused."""
        if isinstance(received.message, Greeting) and (problem := protocol_problem(received.message)):
            self._links.send(received.peer, Stop(refused=problem))
            return []
        self.is_active = True
        match received.message:
            case ReloadRequest():
                self._reload_clients.append(received.peer)
                self.reload()
            case (ProfileRequest() | TraceRequest()) as request:
                self.recordings.start(received.peer, request)
            case TeachRequest() as request:
                return self._teaching.start(received.peer, request)
            case PromoteRequest() as request:
                self._versions.start(received.peer, request)
            case Stop():
                self.recordings.stop(received.peer)
                return self._teaching.stop(received.peer)
        return []

    def reload(self) -> None:
        """Read the config again; `step` returns the result."""
        self.is_active = True
        if self._reload.next_ns is None:
            self._service.reload_begins()
        self._reload.request(now_ns())

    def step(self, now: int) -> list[HubEvent]:
        """Continue every request in progress; return what has happened."""
        self.recordings.step(now)
        events = [*self._step_reload(now), *self._teaching.step(now), *self._versions.step()]
        self.is_active = (
            self._reload.next_ns is not None
            or self.recordings.is_active
            or self._teaching.has_session
            or self._versions.is_active
        )
        return events

    def next_ns(self) -> int | None:
        """Return when `step` must be called even if nothing arrives; None: no request is in progress."""
        each = (
            self._reload.next_ns,
            self.recordings.next_ns(),
            self._teaching.next_ns(),
            self._versions.next_ns(),
        )
        return min((at for at in each if at is not None), default=None)

    def close(self) -> None:
        """Answer every client: the hub ends."""
        self.recordings.close()
        self._teaching.close()
        for client in self._reload_clients:
            self._links.send(client, ReloadAnswer(accepted=False, message="the daemon ends"))

    def _step_reload(self, now: int) -> list[HubEvent]:
        event = self._reload.step(now)
        if event is None:
            return []
        self._service.reload_ends()
        clients, self._reload_clients = self._reload_clients, []
        for client in clients:
            self._links.send(client, ReloadAnswer(accepted=not event.is_bad, message=event.message))
        return [event]
