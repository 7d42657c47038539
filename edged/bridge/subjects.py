"""The NATS subjects of a node, and the messages that stand there."""

import json
import zlib
from dataclasses import dataclass
from typing import Literal

from edged.client.replay import Lost
from edged.client.subscription import Arrival, SnapshotPicture
from edged.messages import Event, Status
from edged.messages.published import to_json


@dataclass(frozen=True, slots=True)
class NatsMessage:
    """A message for a stream. `identity`: by it the server drops what comes twice."""

    subject: str
    payload: bytes
    identity: str


@dataclass(frozen=True, slots=True)
class Delivered:
    """A prediction or a gap, in its place: `boot` and `seq` are those of the last prediction that it covers."""

    message: NatsMessage
    boot: str
    seq: int


@dataclass(frozen=True, slots=True)
class Subjects:
    """The subjects of a node, below `PREFIX.NODE`."""

    prefix: str
    node: str

    def of_node(self, what: Literal["status", "event", "gap"]) -> str:
        """Return `PREFIX.NODE.what`."""
        return f"{self.prefix}.{token(self.node)}.{what}"

    def of_camera(self, camera: str | None, what: Literal["prediction", "event", "snapshot"]) -> str:
        """Return `PREFIX.NODE.CAMERA.what`; None: of any camera."""
        return f"{self.prefix}.{token(self.node)}.{'*' if camera is None else token(camera)}.{what}"

    @property
    def counted(self) -> tuple[str, str]:
        """Return what the numbers of a node cover: its predictions and gaps."""
        return self.of_camera(None, "prediction"), self.of_node("gap")

    def delivered(self, source: Arrival | Lost) -> Delivered:
        """Return the message of a prediction, or of a range that is lost."""
        if isinstance(source, Arrival):
            found = source.prediction
            subject = self.of_camera(found.camera, "prediction")
            identity = f"{self.node}/{found.boot}/{found.seq}"
            return Delivered(NatsMessage(subject, source.json, identity), found.boot, found.seq)
        fields = {"schema": 1, "node": self.node, "boot": source.boot}
        gap = fields | {"first": source.first, "last": source.last, "lost": source.number}
        identity = f"{self.node}/{source.boot}/{source.first}-{source.last}"
        message = NatsMessage(self.of_node("gap"), json.dumps(gap).encode(), identity)
        is_whole = source.number == source.last - source.first + 1
        return Delivered(message, source.boot, source.last if is_whole else source.first - 1)

    def event(self, event: Event) -> NatsMessage:
        """Return an event as it was published."""
        payload = to_json(event)
        subject = self.of_camera(event.camera, "event") if event.camera else self.of_node("event")
        identity = f"{self.node}/{event.boot}/event/{event.at:.6f}-{zlib.crc32(payload):08x}"
        return NatsMessage(subject, payload, identity)

    def status(self, status: Status) -> NatsMessage:
        """Return a status; the next one replaces it."""
        return NatsMessage(
            self.of_node("status"), to_json(status), f"{self.node}/{status.boot}/status/{status.at}"
        )

    def snapshot(self, picture: SnapshotPicture) -> NatsMessage:
        """Return a picture; the next one replaces it."""
        header = picture.header
        identity = f"{self.node}/{header.boot}/snapshot/{header.camera}/{header.captured_at}"
        return NatsMessage(self.of_camera(header.camera, "snapshot"), picture.jpeg, identity)


def token(name: str) -> str:
    """Return a name as one part of a subject, where dots separate parts."""
    return name.replace(".", "%2E")


def streams_of(prefix: str) -> tuple[list[str], list[str]]:
    """Return the subjects of all nodes that a stream keeps, and those of which it keeps the last message."""
    kept = [f"{prefix}.*.*.prediction", f"{prefix}.*.gap", f"{prefix}.*.*.event", f"{prefix}.*.event"]
    return kept, [f"{prefix}.*.status", f"{prefix}.*.*.snapshot"]
