"""A connection to the stream of a hub: messages as they come, whatever becomes of the link."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

import zmq

from edged.client.complaint import Complaint
from edged.client.received import Heard, Picture, decoded, decoded_picture
from edged.connect import Context, Curve, unconnected
from edged.errors import MessageError
from edged.handshakes import Handshakes

Message = TypeVar("Message")

log = logging.getLogger("edged.client")

QUEUED = 1000  # messages that may wait for us; what is lost beyond can be fetched (see `stream`)
REFUSED_S = 1.0  # from one attempt to the next, where the hub refuses us


class Subscription:
    """Comes back by itself after an interruption; what was lost meanwhile, or by our slowness, stays lost.

    A display is content with that; `Stream` fetches it.
    """

    def __init__(
        self, context: Context, address: str, *, topic: str = "edged/", curve: Curve | None = None
    ) -> None:
        """`topic`: its beginning. `curve`: our keys, where there are any."""
        self._context = context
        self._address = address
        self._topic = topic
        self._curve = curve
        self._refusal = self._told = ""
        self._malformed = Complaint()
        self._connect()

    def close(self) -> None:
        """Disconnect."""
        self._handshakes.close()
        self._socket.close()

    @property
    def refusal(self) -> str:
        """Why the hub does not let us in, as it said last; empty where it does, or is away."""
        return self._refusal or self._told

    def receive(self, within_ms: int) -> Heard | None:
        """The next message; None where none comes in time, or one of no use. What no edged has sent is told."""
        return self._received(within_ms, decoded)

    def receive_picture(self, within_ms: int) -> Picture | None:
        """The same, where `topic` is that of snapshots."""
        return self._received(within_ms, decoded_picture)

    def _received(self, within_ms: int, read: Callable[[list[bytes]], Message]) -> Message | None:
        if not self._socket.poll(within_ms):
            self._connect_again_if_refused()
            return None
        try:
            message = read(self._socket.recv_multipart())
        except MessageError as error:
            self._malformed.say(f"a message from {self._address} is left out: {error}")
            return None
        self._told = ""  # it lets us in
        return message

    def _connect(self) -> None:
        self._connected_s = time.monotonic()
        self._socket = unconnected(self._context, zmq.SUB, self._address, QUEUED, self._curve)
        self._handshakes = Handshakes(self._context, self._socket, self._curve)
        self._socket.subscribe(self._topic)
        self._socket.connect(self._address)

    def _connect_again_if_refused(self) -> None:
        """Whoever is refused may be let in later; why is told once."""
        self._refusal = self._handshakes.failure() or self._refusal
        if not self._refusal or time.monotonic() - self._connected_s < REFUSED_S:
            return
        if self._refusal != self._told:
            log.warning("%s: %s", self._address, self._refusal)
        self._told, self._refusal = self._refusal, ""
        self.close()
        self._connect()
