"""The camera's end of the link to the hub."""

from collections.abc import Callable

from edged.address import is_ipc
from edged.camera.sources.picture import Pixels
from edged.connect import Curve
from edged.hub_link import HubLink
from edged.messages import CameraHello, LinkMessage, decode

WAITING_FRAMES = 2  # more would only grow old here: waiting is done in the hub
BUFFERED = 65_536  # bytes in the kernel, which would take megabytes: seconds of a link of 10 Mbit/s
LAST_WORDS_MS = 500


class Link:
    """Sending never blocks. The hub is greeted whenever it is met."""

    def __init__(
        self, camera: str, address: str, greeting: Callable[[], CameraHello], curve: Curve | None = None
    ) -> None:
        self._greeting = greeting
        peer = f"camera/{camera}"
        self._hub = HubLink(
            peer,
            address,
            queued=WAITING_FRAMES,
            buffered=-1 if is_ipc(address) else BUFFERED,
            linger_ms=LAST_WORDS_MS,
            curve=curve,
        )

    def send(self, message: LinkMessage, payload: Pixels | None = None) -> bool:
        """Whether there was room; a message that finds none is not sent. `payload`: uint8, C-contiguous."""
        return self._hub.send(message, [] if payload is None else [payload.data])

    def send_news(self, message: LinkMessage) -> None:
        """Send, waiting for room as long as last words may take: frames before it may wait to leave."""
        if self.has_room(LAST_WORDS_MS / 1000):
            self.send(message)

    def has_room(self, within_s: float = 0.0) -> bool:
        """Whether the next message will be sent, waiting so long for it."""
        return self._hub.has_room(within_s)

    def receive(self, within_s: float = 0.0) -> LinkMessage | None:
        """The hub's next message, or None if none comes in time. Raises MessageError for one that does not fit."""
        parts = self._hub.receive()
        if parts is None:
            self._hub.wait(within_s)
            if self._hub.has_joined():
                self._hub.send(self._greeting())
            parts = self._hub.receive()
        return decode(parts[0]) if parts else None

    def close(self) -> None:
        """Let the last words go, and close."""
        self._hub.close()
