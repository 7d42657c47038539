"""A connection to the stream of a hub: messages as they arrive, across any failure of the link."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec
import zmq

from edged.errors import MessageError
from edged.messages import Event, Prediction, SnapshotHeader, Status, prediction_from_json
from edged.messages.message import INVALID_JSON
from edged.system.plain_text import counted
from edged.transport.client_socket import Context, Curve, Handshakes, unconnected

EVERY_S = 60.0  # between two warnings
QUEUED = 1000  # messages that may wait for us; what is lost beyond that can be fetched (see `stream`)
REFUSED_S = 1.0  # seconds between two attempts while the hub rejects us

log = logging.getLogger("edged.client")


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prediction, and the JSON in which it was received."""

    prediction: Prediction
    json: bytes


@dataclass(frozen=True, slots=True)
class SnapshotPicture:
    """A snapshot of a frame, as JPEG."""

    header: SnapshotHeader
    jpeg: bytes


StreamMessage = Arrival | Event | Status
JsonMessage = TypeVar("JsonMessage", Event, Status, SnapshotHeader)


def decoded(parts: list[bytes]) -> StreamMessage | None:
    """Decode a message of the stream; None for one without a prediction, event or status. Raises MessageError."""
    if len(parts) != 2:
        raise MessageError(f"{len(parts)} parts in place of topic and JSON: is it edged?")
    topic, json = parts
    match topic.rpartition(b"/")[2]:
        case b"prediction":
            return Arrival(prediction_from_json(json), json)
        case b"event":
            return _parsed(Event, json)
        case b"status":
            return _parsed(Status, json)
    return None


def decoded_picture(parts: list[bytes]) -> SnapshotPicture:
    """Decode a message of the snapshot topics. Raises MessageError."""
    if len(parts) != 3:
        raise MessageError(f"{len(parts)} parts in place of topic, JSON and JPEG: is it edged?")
    return SnapshotPicture(_parsed(SnapshotHeader, parts[1]), parts[2])


def decoded_any(parts: list[bytes]) -> StreamMessage | SnapshotPicture | None:
    """Decode a message of either kind of topic. Raises MessageError."""
    return decoded_picture(parts) if parts[0].startswith(b"snapshot/") else decoded(parts)


def _parsed(kind: type[JsonMessage], json: bytes) -> JsonMessage:
    try:
        return msgspec.json.decode(json, type=kind)
    except INVALID_JSON:
        raise MessageError(
            f"{kind.__name__.lower()} that does not fit the schema: another version of edged?"
        ) from None


class Complaint:
    """Logs the first problem at once; repetitions within a minute are counted, and logged with the next one."""

    def __init__(self) -> None:
        self._logged_s: float | None = None
        self._suppressed = 0

    def say(self, what: str) -> None:
        """Report the problem once more."""
        now = time.monotonic()
        if self._logged_s is not None and now - self._logged_s < EVERY_S:
            self._suppressed += 1
            return
        log.warning(
            "%s%s",
            what,
            f" ({counted(self._suppressed, 'time')} more since the last warning)" if self._suppressed else "",
        )
        self._logged_s, self._suppressed = now, 0

    def settle(self) -> None:
        """Record that the problem is solved: the next one is logged at once."""
        self._logged_s, self._suppressed = None, 0


Message = TypeVar("Message")


class Subscription:
    """Comes back by itself after an interruption; what was lost meanwhile, or by our slowness, stays lost.

    Messages missed meanwhile, or by slow reading, stay lost. A display accepts that; `PredictionStream` fetches
    them.
    """

    def __init__(
        self, context: Context, address: str, *, topic: str = "edged/", curve: Curve | None = None
    ) -> None:
        """`topic`: its first characters. `curve`: our keys, if any."""
        self._context = context
        self._address = address
        self._topics = [topic]
        self._curve = curve
        self._refusal = self._logged_refusal = ""
        self._malformed = Complaint()
        self._connect()

    def add(self, topic: str) -> None:
        """Receive messages of this topic, too."""
        if topic not in self._topics:
            self._topics.append(topic)
            self._socket.subscribe(topic)

    def close(self) -> None:
        self._handshakes.close()
        self._socket.close()

    @property
    def refusal(self) -> str:
        """Return why the hub rejects us, as last reported; empty if it accepts us, or is unreachable."""
        return self._refusal or self._logged_refusal

    def receive(self, within_ms: int) -> StreamMessage | None:
        """Return the next message; None if none comes in time, or for one of no use.

        Invalid messages are logged.
        """
        return self._received(within_ms, decoded)

    def receive_picture(self, within_ms: int) -> SnapshotPicture | None:
        """Return the next snapshot, if `topic` is that of snapshots; None as for `receive`."""
        return self._received(within_ms, decoded_picture)

    def receive_any(self, within_ms: int) -> StreamMessage | SnapshotPicture | None:
        """Return the next message of any topic; None as for `receive`."""
        return self._received(within_ms, decoded_any)

    def _received(self, within_ms: int, read: Callable[[list[bytes]], Message]) -> Message | None:
        if not self._socket.poll(within_ms):
            self._connect_again_if_refused()
            return None
        try:
            message = read(self._socket.recv_multipart())
        except MessageError as error:
            self._malformed.say(f"a message from {self._address} is left out: {error}")
            return None
        self._logged_refusal = ""  # the hub accepts us
        return message

    def _connect(self) -> None:
        self._connected_s = time.monotonic()
        self._socket = unconnected(self._context, zmq.SUB, self._address, QUEUED, self._curve)
        self._handshakes = Handshakes(self._context, self._socket, self._curve)
        for topic in self._topics:
            self._socket.subscribe(topic)
        self._socket.connect(self._address)

    def _connect_again_if_refused(self) -> None:
        """Connect again: a rejected client may be accepted later. The reason is logged once."""
        self._refusal = self._handshakes.failure() or self._refusal
        if not self._refusal or time.monotonic() - self._connected_s < REFUSED_S:
            return
        if self._refusal != self._logged_refusal:
            log.warning("%s: %s", self._address, self._refusal)
        self._logged_refusal, self._refusal = self._refusal, ""
        self.close()
        self._connect()
