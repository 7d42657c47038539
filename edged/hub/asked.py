"""What others of this host ask of a hub that runs: `edged reload`, `edged profile --attach`, `edged trace`."""

from edged.clock import now_ns, wall_s
from edged.hub.link import Received
from edged.hub.notice import Notice
from edged.hub.parts import Parts
from edged.hub.recordings import Recordings
from edged.hub.reload import Reload
from edged.hub.service import Service
from edged.messages import (
    ClockAnswer,
    ClockRequest,
    ProfileRequest,
    Recorded,
    Recorder,
    Reloaded,
    ReloadRequest,
    Stop,
    TraceRequest,
)

ASKERS = ("reload/", "profile/", "trace/")  # on the private link alone: the outer door knows no such names


class Asked:
    """Beside what the pipeline itself has to say, which is not for here."""

    def __init__(self, parts: Parts, service: Service, reload: Reload) -> None:
        self._links = parts.links
        self._service = service
        self._reload = reload
        self.recordings = Recordings(parts)

    def take(self, received: Received) -> list[Notice] | None:
        """What comes of a message; None where it is the pipeline's."""
        if received.peer.startswith(ASKERS):
            return self._answer(received)
        match received.message:
            case Recorder() | Recorded():
                self.recordings.heard(received)
                return []
            case ClockRequest(sent_ns=sent_ns) if received.peer.startswith("worker/"):
                answer = ClockAnswer(sent_ns=sent_ns, hub_ns=now_ns(), hub_at=wall_s())
                self._links.send(received.peer, answer)
                return []
        return None

    def reload(self) -> Notice:
        """Read the config again."""
        with self._service.reloading():
            return self._reload.now()

    def _answer(self, received: Received) -> list[Notice]:
        match received.message:
            case ReloadRequest():
                notice = self.reload()
                accepted = not notice.is_bad
                self._links.send(received.peer, Reloaded(accepted=accepted, message=notice.message))
                return [notice]
            case (ProfileRequest() | TraceRequest()) as request:
                self.recordings.asked(received.peer, request)
            case Stop():
                self.recordings.left(received.peer)
        return []
