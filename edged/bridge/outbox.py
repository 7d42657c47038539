"""Messages that wait for a broker: of each retained topic the newest alone, and events in their order."""

from collections import deque
from collections.abc import Collection, Iterable

from edged.bridge.topics import MqttMessage

EVENTS = 1000  # that wait; older ones are dropped


class Outbox:
    """What a broker has to get, and what it retains as far as its answers show.

    A broker that was away may have lost everything, so after each connection it gets all again.
    """

    def __init__(self, retained: Iterable[str] = ()) -> None:
        """`retained`: topics that a bridge before this one has left at the broker."""
        self._newest: dict[str, MqttMessage] = {}  # by topic, in the order of their first message
        self._waiting: dict[str, None] = {}  # topics whose newest message the broker does not have
        self._events: deque[MqttMessage] = deque(maxlen=EVENTS)
        self._left = set(retained)

    @property
    def is_empty(self) -> bool:
        return not self._waiting and not self._events

    @property
    def retained(self) -> set[str]:
        """Return the topics that the broker retains, or may retain soon."""
        return self._left | self._newest.keys()

    def put(self, message: MqttMessage) -> None:
        """Queue a message; a retained one replaces the one of its topic, and is left out if it repeats that."""
        if not message.retain:
            self._events.append(message)
        elif self._newest.get(message.topic) != message:
            self._newest[message.topic] = message
            self._waiting[message.topic] = None
            self._left.discard(message.topic)

    def keep_only(self, topics: Collection[str]) -> None:
        """Empty the topics that the broker retains besides these."""
        for topic in self.retained.difference(topics):
            self.put(MqttMessage(topic, ""))

    def begin_again(self, unacknowledged: Iterable[MqttMessage]) -> None:
        """Queue everything that is retained, and events of the connection before that were not acknowledged."""
        self._waiting = dict.fromkeys(self._newest)
        self._events.extendleft(reversed([message for message in unacknowledged if not message.retain]))

    def take(self) -> MqttMessage | None:
        """Return the next message to send; None if nothing waits."""
        if self._events:
            return self._events.popleft()
        if not self._waiting:
            return None
        topic = next(iter(self._waiting))
        del self._waiting[topic]
        return self._newest[topic]

    def acknowledged(self, message: MqttMessage) -> None:
        """Forget a topic that the broker has emptied."""
        if message.retain and not message.payload and self._newest.get(message.topic) == message:
            del self._newest[message.topic]
            self._waiting.pop(message.topic, None)
