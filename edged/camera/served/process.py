"""The process that answers requests of other programs: their pictures are frames, as those of a camera.

The hub grants as many frames as it has room for. All other requests wait here, and the newest is sent first. Each
request is answered in time: with what was found, or with nothing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic
from uuid import uuid4

import cv2
import msgspec

from edged.camera.hub_session import HubRequests
from edged.camera.served.endpoint import FittedPicture, R, RequestEndpoint
from edged.camera.served.frigate import FrigateEndpoint
from edged.camera.served.refusals import RefusedRequestError
from edged.camera.served.request_queue import RequestQueue
from edged.camera.state import State
from edged.clock import NANOSECONDS, now_ns, seconds_since, wall_s
from edged.config import CameraConfig
from edged.errors import CameraError
from edged.messages import CameraHello, CameraReport, Capture, Frame, FrameAnswer, RequestCount
from edged.system.backoff import Backoff
from edged.transport.client_socket import Curve

REPORT_EVERY_S = 1.0


def run_served_camera(
    name: str, camera: CameraConfig, model: Path | None, hub: str, curve: Curve | None = None
) -> None:
    """Answer requests with the help of the hub at the address `hub`, until it stops us.

    `model`: the file that the config names. Raises CameraError, and ConfigError for a key or certificate.
    """
    cv2.setNumThreads(1)  # the other cores are for the forward pass
    if camera.serves_http:
        from edged.camera.served.http_endpoint import http_endpoint  # it needs packages of an extra

        _serve(RequestServer(name, http_endpoint(camera), hub, curve))
    else:
        folder = model and model.parent
        endpoint = FrigateEndpoint(camera.serves_at or "", folder, camera.answers_within_s)
        _serve(RequestServer(name, endpoint, hub, curve))


def _serve(server: "RequestServer[R]") -> None:
    try:
        server.run()
    finally:
        server.close()


@dataclass(frozen=True)
class SentRequest(Generic[R]):
    """A request whose picture was sent to the hub, as a frame captured at `captured_at`."""

    request: R
    captured_at: float


class RequestServer(Generic[R]):
    """Runs one endpoint, from its hello to its last report."""

    def __init__(self, name: str, endpoint: RequestEndpoint[R], hub: str, curve: Curve | None = None) -> None:
        self._name = name
        self._run = uuid4().hex
        self._endpoint = endpoint
        self._state = State(name)
        self._waiting: RequestQueue[R] = RequestQueue()
        self._sent: dict[int, SentRequest[R]] = {}  # by the number of the frame
        self._late = 0
        self._orders = HubRequests(name, hub, self._hello, curve)
        self._link = self._orders.link
        self._reported_ns = now_ns()

    def run(self) -> None:
        """Answer requests until the hub stops this process. Raises CameraError if it refuses it."""
        self._listen()
        while not self._orders.stop:
            self._turn()
        self._answer_rest()
        if self._orders.stop.refused:
            raise CameraError(f"the hub refuses camera {self._name}: {self._orders.stop.refused}")
        self._link.send_news(self._counted(self._state.last_report()))

    def close(self) -> None:
        """Wait shortly for the last messages to be sent."""
        self._endpoint.close()
        self._link.close()

    def _hello(self) -> CameraHello:
        return CameraHello(
            camera=self._name, run=self._run, count=self._state.count(), awaits_grants=True, awaits_answers=True
        )

    def _listen(self) -> None:
        """Open the endpoint; try again while it cannot be opened."""
        backoff = Backoff()
        while not self._orders.stop:
            try:
                self._endpoint.open()
            except CameraError as error:
                if self._state.source_failed(str(error)):
                    self._report()
                self._orders.receive(min(REPORT_EVERY_S, backoff.failed()))
                self._report_if_due()
                continue
            self._link.watch(self._endpoint.inbox)
            self._state.source_opened()
            self._report()
            return

    def _turn(self) -> None:
        """Wait for something to do, and do it."""
        self._orders.receive(0.0 if self._may_send() else self._idle_s())
        self._take_answers()
        for request in self._endpoint.receive(self._orders.model):
            if oldest := self._waiting.add(request):
                self._drop(oldest, "superseded")
        if (wanted := self._orders.wanted) and self._may_send():
            self._send(self._waiting.take_newest(), wanted)  # one in each turn: a large picture takes its time
        self._answer_late()
        self._report_if_due()

    def _may_send(self) -> bool:
        """Return whether a request waits, and the hub takes its picture now."""
        orders = self._orders
        return bool(orders.wanted and orders.granted > 0 and self._waiting) and self._link.has_room()

    def _idle_s(self) -> float:
        """Return how long nothing is due, unless a message comes."""
        sent_ns = min((sent.request.due_ns for sent in self._sent.values()), default=None)
        due_ns = [at for at in (sent_ns, self._waiting.due_ns, self._endpoint.due_ns) if at is not None]
        until_ns = min(due_ns, default=now_ns() + NANOSECONDS)
        return max(0.0, min(REPORT_EVERY_S / 2, (until_ns - now_ns()) / NANOSECONDS))

    def _take_answers(self) -> None:
        answers, self._orders.answers = self._orders.answers, []
        for answer in answers:
            self._take_answer(answer)

    def _take_answer(self, answer: FrameAnswer) -> None:
        """Answer the request that was sent as this frame, unless it was late, or of another process."""
        sent = self._sent.get(answer.frame)
        if sent and sent.captured_at == answer.captured_at:
            del self._sent[answer.frame]
            if answer.dropped:
                self._endpoint.give_up(sent.request, answer.dropped)
            else:
                self._endpoint.answer(sent.request, answer)

    def _send(self, request: R, wanted: Capture) -> None:
        """Send the picture to the hub as a frame."""
        try:
            picture = self._endpoint.prepare(request, wanted)
        except RefusedRequestError as error:
            self._endpoint.refuse(request, error)
            return
        frame = self._frame(request, picture, wanted)
        if not self._link.send(frame, picture.pixels):
            self._state.dropped("link_full")
            self._endpoint.give_up(request, "link_full")
            return
        self._orders.granted -= 1
        self._sent[frame.frame] = SentRequest(request, frame.captured_at)
        self._send_snapshot(picture, frame)

    def _frame(self, request: R, picture: FittedPicture, wanted: Capture) -> Frame:
        """Count a picture, and return its frame. Its age begins when it arrived, as it does for the client."""
        number, waited_s = self._state.captured(), seconds_since(request.received_ns)
        captured_ns, captured_at, error_ns = self._orders.clock.to_hub_time(
            request.received_ns, wall_s() - waited_s
        )
        return Frame(
            camera=self._name,
            frame=number,
            captured_at=captured_at,
            captured_ns=captured_ns,
            clock_error_s=error_ns / NANOSECONDS,
            capture_s=0.0,
            preprocess_s=waited_s,
            width=wanted.width,
            height=wanted.height,
            place=picture.place,
            count=self._state.count(),
        )

    def _send_snapshot(self, picture: FittedPicture, frame: Frame) -> None:
        """Send a snapshot after its frame, only if the link has room."""
        now = now_ns()
        if not (self._orders.snapshots.is_due(now) and self._link.has_room()):
            return
        if taken := self._orders.snapshots.encode(picture.whole, frame, now):
            self._link.send(taken.header, taken.jpeg)

    def _drop(self, request: R, reason: str) -> None:
        """Give up a request that was not sent to the hub, and count its picture."""
        self._state.captured()
        self._state.dropped(reason)
        self._endpoint.give_up(request, reason)

    def _answer_late(self) -> None:
        """Give up requests whose time is over."""
        now = now_ns()
        for request in self._waiting.take_late(now):
            self._late += 1
            self._drop(request, "late")
        for number, sent in [each for each in self._sent.items() if each[1].request.due_ns <= now]:
            self._late += 1
            del self._sent[number]
            self._endpoint.give_up(sent.request, "late")

    def _answer_rest(self) -> None:
        """Give up all requests at the end."""
        for sent in self._sent.values():
            self._endpoint.give_up(sent.request, "shutdown")
        for request in self._waiting.clear():
            self._drop(request, "shutdown")

    def _report_if_due(self) -> None:
        if seconds_since(self._reported_ns) >= REPORT_EVERY_S:
            self._report()
        else:
            self._orders.diary.send_if_due()

    def _report(self) -> None:
        self._reported_ns = now_ns()
        self._link.send(self._counted(self._state.report()))

    def _counted(self, report: CameraReport) -> CameraReport:
        requests = RequestCount(late=self._late, refused=dict(self._endpoint.refused))
        return msgspec.structs.replace(report, requests=requests)
