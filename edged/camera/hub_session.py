"""The camera's session with the hub: its link, what the hub has ordered, and what it traces while recorded."""

import os
import socket
from collections.abc import Callable

import zmq

from edged.camera.snapshots import SnapshotEncoder
from edged.camera.sources.source import Captured
from edged.clock import NANOSECONDS, nanoseconds, now_ns
from edged.errors import MessageError
from edged.messages import (
    CameraHello,
    Capture,
    ClockAnswer,
    ClockRequest,
    FrameAnswer,
    Grant,
    Hold,
    LinkMessage,
    RecorderHello,
    RecordRequest,
    ServedModel,
    Stop,
    TraceBatch,
    decode,
)
from edged.pictures.prepare import Pixels
from edged.transport.client_socket import Curve
from edged.transport.hub_clock import HubClock
from edged.transport.hub_link import open_hub_link
from edged.transport.spans import Notebook

WAITING_FRAMES = 2  # more would only get old here: frames wait in the hub
BUFFERED = 65_536  # bytes in the kernel; its default, megabytes, holds seconds of a link of 10 Mbit/s
LAST_WORDS_S = 0.5
BATCH_NS = NANOSECONDS // 4  # between batches; one with each frame would take the frame's place on the link


class CameraLink:
    """The camera's end of the link. Sending never blocks. Each new hub gets a hello."""

    def __init__(
        self, camera: str, address: str, greeting: Callable[[], CameraHello], curve: Curve | None = None
    ) -> None:
        self._greeting = greeting
        self._hub = open_hub_link(
            f"camera/{camera}",
            address,
            queued=WAITING_FRAMES,
            buffered=BUFFERED,
            linger_s=LAST_WORDS_S,
            curve=curve,
        )
        self.same_host = self._hub.same_host

    def send(self, message: LinkMessage, payload: Pixels | None = None) -> bool:
        """Send a message; return False if there is no room for it. `payload`: uint8, C-contiguous."""
        return self._hub.send(message, [] if payload is None else [payload.data])

    def send_news(self, message: LinkMessage) -> None:
        """Send an important message; wait for room, since frames may still be queued before it."""
        if self.has_room(LAST_WORDS_S):
            self.send(message)

    def has_room(self, within_s: float = 0.0) -> bool:
        """Wait for room for so long, and return whether the next message can be sent."""
        return self._hub.has_room(within_s)

    def receive(self, within_s: float = 0.0) -> LinkMessage | None:
        """Return the hub's next message, or None if none comes in time. Raises MessageError for an invalid one."""
        parts = self._hub.receive()
        if parts is None:
            self._hub.wait(within_s)
            if self._hub.has_joined():
                self._hub.send(self._greeting())
            parts = self._hub.receive()
        return decode(parts[0]) if parts else None

    def watch(self, inbox: int | zmq.Socket[bytes]) -> None:
        """Make `receive` return for messages at this descriptor or socket too."""
        self._hub.watch(inbox)

    def close(self) -> None:
        """Wait shortly for messages to be sent, and close."""
        self._hub.close()


class CameraTrace:
    """The recording of one camera. While no client records, it costs one look at `is_open` per picture."""

    def __init__(self, camera: str, link: CameraLink, clock: HubClock) -> None:
        self._camera = camera
        self._link = link
        self._clock = clock
        self._notebook = Notebook()
        self._is_new = False
        self._sent_ns = self._prepared_ns = 0

    def apply_request(self, order: RecordRequest) -> None:
        """Start, continue or stop recording."""
        self._is_new |= self._notebook.open(order.recording, order.for_s)
        if not order.for_s:
            self._send(last=True)

    def prepared(self, at_ns: int) -> None:
        """Record that a frame is about to be sent."""
        self._prepared_ns = at_ns

    def picture(self, number: int, captured: Captured, dropped: str | None) -> None:
        """Record that a picture was captured, and sent or dropped for a reason."""
        if not self._notebook.is_open:
            return
        frames = ((self._camera, number),)
        now, read_ns = now_ns(), captured.read_ns
        was_prepared = self._prepared_ns >= read_ns  # a frame without a picture record was dropped earlier
        prepared_ns = self._prepared_ns if was_prepared else now
        self._notebook.note("capture", read_ns - nanoseconds(captured.read_s), read_ns, frames=frames)
        self._notebook.note("preprocess", read_ns, prepared_ns, frames=frames)
        if was_prepared:
            self._notebook.note("send", prepared_ns, now, frames=frames)
        if dropped:
            self._notebook.note("drop", now, frames=frames, reason=dropped)

    def send_if_due(self) -> None:
        """Send a batch if one is due and the link has room."""
        if not self._notebook.is_open or now_ns() - self._sent_ns < BATCH_NS or not self._link.has_room():
            return
        self._notebook.close_if_due()
        if self._is_new:
            self._link.send(RecorderHello(pid=os.getpid(), host=socket.gethostname()))
            self._is_new, self._sent_ns = False, now_ns()
        else:
            self._send()

    def _send(self, *, last: bool = False) -> None:
        self._sent_ns = now_ns()
        offset_ns, error_ns = self._clock.offset_ns()
        notes = self._notebook.pop_spans()
        if notes or last:
            self._link.send(TraceBatch(spans=notes, offset_ns=offset_ns, error_ns=error_ns, last=last))


class HubRequests:
    """Requests of the hub at the other end of `link`; a new hub starts without any.

    `wanted`: the size of frames; `granted`: how many more frames a camera that awaits grants may capture;
    `held_until_ns`: until when no worker takes a frame; `stop`: the hub wants the process to end. `model`,
    `answers`: the model that answers, and answers not taken yet, of a camera that awaits them.
    """

    def __init__(
        self, camera: str, hub: str, hello: Callable[[], CameraHello], curve: Curve | None = None
    ) -> None:
        self.wanted: Capture | None = None
        self.granted = 0
        self.held_until_ns = 0
        self.model: ServedModel | None = None
        self.answers: list[FrameAnswer] = []
        self.stop: Stop | None = None
        self.snapshots = SnapshotEncoder(camera)
        self._camera = camera
        self._hello = hello
        self.link = CameraLink(camera, hub, self._greeting, curve)
        self.clock = HubClock(same_host=self.link.same_host)
        self.diary = CameraTrace(camera, self.link, self.clock)

    def receive(self, within_s: float = 0.0) -> None:
        """Apply all requests of the hub, waiting up to `within_s` for the first. Raises MessageError."""
        message = self.link.receive(within_s)
        while message is not None:
            self._apply(message)
            message = self.link.receive()

    def request_time(self) -> None:
        """Request the hub's time if it runs on another host."""
        if not self.clock.same_host:
            self.link.send(ClockRequest(sent_ns=now_ns()))

    def _greeting(self) -> CameraHello:
        """Return the hello for a hub that has sent nothing yet, or that is a new one."""
        self.wanted, self.granted, self.model = None, 0, None
        self.held_until_ns = 0
        self.clock.forget()
        return self._hello()

    def _apply(self, message: LinkMessage) -> None:
        match message:
            case Capture():
                self.wanted = message
                self.snapshots.configure(message.snapshot)
                self.request_time()
            case ClockAnswer():
                self.clock.add_answer(message.sent_ns, message.hub_ns, message.hub_at, now_ns())
            case RecordRequest():
                self.diary.apply_request(message)
            case Grant(frames=frames):
                self.granted += frames
            case Hold(until_ns=until_ns):
                self.held_until_ns = until_ns
            case ServedModel():
                self.model = message
            case FrameAnswer():
                self.answers.append(message)
            case Stop():
                self.stop = self.stop or message  # answers to frames after it are ignored
            case _:
                raise MessageError(f"the hub sent camera {self._camera} a {message.kind}: is it another version?")
