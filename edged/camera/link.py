"""The camera's end of the link to the hub."""

import math

import zmq

from edged.camera.sources.picture import Pixels
from edged.messages import LinkMessage, decode, encode

WAITING_FRAMES = 2  # more would only grow old here: waiting is done in the hub
LAST_WORDS_MS = 500


class Link:
    """A DEALER socket of one camera. Sending never blocks."""

    def __init__(self, camera: str, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.setsockopt(zmq.IDENTITY, f"camera/{camera}".encode())
        self._socket.setsockopt(zmq.SNDHWM, WAITING_FRAMES)
        self._socket.setsockopt(zmq.LINGER, LAST_WORDS_MS)
        self._socket.connect(address)

    def send(self, message: LinkMessage, pixels: Pixels | None = None) -> bool:
        """Whether there was room; a message that finds none is not sent. `pixels`: uint8, C-contiguous."""
        parts: list[bytes | memoryview] = [encode(message)]
        if pixels is not None:
            parts.append(pixels.data)
        try:
            self._socket.send_multipart(parts, zmq.NOBLOCK)
        except zmq.Again:
            return False
        return True

    def send_news(self, message: LinkMessage) -> None:
        """Send, waiting for room as long as last words may take: frames before it may wait to leave."""
        if self.has_room(LAST_WORDS_MS / 1000):
            self.send(message)

    def has_room(self, within_s: float = 0.0) -> bool:
        """Whether the next message will be sent, waiting so long for it."""
        return bool(self._socket.poll(round(within_s * 1000), zmq.POLLOUT))

    def receive(self, within_s: float = 0.0) -> LinkMessage | None:
        """The hub's next message, or None if none comes in time. Raises MessageError for one that does not fit."""
        if not self._socket.poll(math.ceil(within_s * 1000)):
            return None
        return decode(self._socket.recv_multipart()[0])

    def close(self) -> None:
        """Let the last words go, and close."""
        self._socket.close()
        self._context.term()
