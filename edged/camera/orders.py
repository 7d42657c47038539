"""What the hub has asked of a camera so far."""

from collections.abc import Callable

from edged.address import is_ipc
from edged.camera.diary import Diary
from edged.camera.link import Link
from edged.camera.snapshots import Snapshots
from edged.clock import now_ns
from edged.connect import Curve
from edged.errors import MessageError
from edged.hub_clock import HubClock
from edged.messages import CameraHello, Capture, ClockAnswer, ClockRequest, Grant, LinkMessage, Record, Stop


class Orders:
    """Of the hub at the other end of `link`; a hub that takes its place has asked for nothing yet.

    `wanted`: the size of frames; `granted`: how many more, of a camera that waits for that; `stop`: the end.
    """

    def __init__(
        self, camera: str, hub: str, hello: Callable[[], CameraHello], curve: Curve | None = None
    ) -> None:
        self.wanted: Capture | None = None
        self.granted = 0
        self.stop: Stop | None = None
        self.clock = HubClock(same_host=is_ipc(hub))
        self.snapshots = Snapshots(camera)
        self._camera = camera
        self._hello = hello
        self.link = Link(camera, hub, self._greeting, curve)
        self.diary = Diary(camera, self.link, self.clock)

    def listen(self, within_s: float = 0.0) -> None:
        """Take in all that the hub has said, waiting so long for the first message. Raises MessageError."""
        message = self.link.receive(within_s)
        while message is not None:
            self._take(message)
            message = self.link.receive()

    def ask_the_time(self) -> None:
        """Where the hub's clock is another host's."""
        if not self.clock.same_host:
            self.link.send(ClockRequest(sent_ns=now_ns()))

    def _greeting(self) -> CameraHello:
        """To a hub that has not asked us for anything yet, or not this one."""
        self.wanted, self.granted = None, 0
        self.clock.forget()
        return self._hello()

    def _take(self, message: LinkMessage) -> None:
        match message:
            case Capture():
                self.wanted = message
                self.snapshots.ask(message.snapshot)
                self.ask_the_time()
            case ClockAnswer():
                self.clock.answered(message.sent_ns, message.hub_ns, message.hub_at, now_ns())
            case Record():
                self.diary.heard(message)
            case Grant(frames=frames):
                self.granted += frames
            case Stop():
                self.stop = self.stop or message  # what it says to frames that come after it does not count
            case _:
                raise MessageError(f"the hub sent camera {self._camera} a {message.kind}: is it another version?")
