"""Events, statuses and pictures of a hub that wait for a server: they are read also while there is none."""

from collections import deque
from collections.abc import Iterator

from edged.bridge.subjects import NatsMessage, Subjects
from edged.client.subscription import SnapshotPicture, Subscription
from edged.messages import Event, Status
from edged.messages.published import snapshot_topic, topic
from edged.transport.client_socket import Context, Curve

POLL_MS = 100
EVENTS = 1000  # that wait; beyond that the oldest are lost
BURST = 200  # messages read at a time


class Notices:
    """Reads a hub's messages that have no numbers. Of events all are kept, of statuses and pictures the last."""

    def __init__(
        self, context: Context, address: str, subjects: Subjects, *, snapshots: bool, curve: Curve | None
    ) -> None:
        self._subjects = subjects
        node = subjects.node
        self._stream = Subscription(context, address, topic=topic(node, None, "status"), curve=curve)
        self._stream.add(topic(node, None, "event"))
        self._pictures: Subscription | None = None
        if snapshots:
            self._pictures = Subscription(context, address, topic=snapshot_topic(node, ""), curve=curve)
        self.events: deque[NatsMessage] = deque(maxlen=EVENTS)
        self._latest: dict[str, NatsMessage] = {}

    def read(self) -> None:
        """Wait a moment for messages, and take those that have come."""
        wait_ms = POLL_MS
        for _ in range(BURST):
            message = self._stream.receive(wait_ms)
            picture = self._pictures.receive_picture(0) if self._pictures else None
            for each in (message, picture):
                self._take(each)
            if message is None and picture is None:
                return
            wait_ms = 0

    def _take(self, message: object) -> None:
        match message:
            case Event():
                self.events.append(self._subjects.event(message))
            case Status():
                for camera in message.camera_states:  # of each, so that predictions are not read twice
                    self._stream.add(topic(message.node, camera, "event"))
                self._put(self._subjects.status(message))
            case SnapshotPicture():
                self._put(self._subjects.snapshot(message))

    def _put(self, message: NatsMessage) -> None:
        self._latest[message.subject] = message

    def pop_latest(self) -> Iterator[NatsMessage]:
        """Yield the statuses and pictures that were not yielded before."""
        while self._latest:
            yield self._latest.pop(next(iter(self._latest)))

    def close(self) -> None:
        """Disconnect from the hub."""
        self._stream.close()
        if self._pictures:
            self._pictures.close()
