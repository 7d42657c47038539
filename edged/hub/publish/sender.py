"""The socket of the stream, and the only thread that uses it.

libzmq processes subscriptions when a message is sent: thousands of topics delay this thread, not the loop.
When a subscriber leaves, libzmq walks over the topics of all others before it sends anything more. So the topics
that each holds are counted here, and bounded by the guard.
"""

import threading
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import zmq
from msgspec.structs import replace

from edged.clock import now_ns, seconds_since, wall_s
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.queues import Held
from edged.hub.links.sockets import MORE, NOW, Part, send_parts
from edged.hub.service_threads import ServiceThreads
from edged.messages import Prediction, Scores, WorkerHello, to_json

QUEUED = 1000  # messages that may wait for the thread
AT_ONCE = 200  # subscriptions that are read between two messages: 1 ms
IDLE_S = 0.2  # seconds between processing subscriptions while nothing is sent
LINGER_MS = 300  # at the end, for subscribers that have not received everything

What = Literal["prediction", "event", "status", "snapshot"]


@dataclass(slots=True)
class Outgoing:
    """A prediction to send to subscribers.

    `held`: its frame, without pixels. `made_ns`: when its times were taken. `stale_ns`: after this it must not be
    sent any more (None: it may always be). `journaled`: whether the journal has it.
    """

    topic: bytes
    prediction: Prediction
    held: Held
    made_ns: int
    stale_ns: int | None
    journaled: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one: `sent`, with the times of the sending; None if it was dropped, for that `reason`."""

    outgoing: Outgoing
    sent: Prediction | None
    reason: Literal["", "stale", "not_sent", "shutdown"] = ""


@dataclass(slots=True, eq=False)
class AnsweredJob:
    """A job that was answered with scores. It is counted together with its predictions, once all are settled.

    `seconds`: from its assignment to its answer. `unsettled`: predictions without an outcome yet;
    `outcomes`: those of the others.
    """

    assigned: Assigned
    scores: Scores
    hello: WorkerHello
    payloads: Sequence[memoryview]
    answered_ns: int
    seconds: float
    unsettled: int = 0
    outcomes: list[Outcome] = field(default_factory=list)


@dataclass(slots=True)
class _Message:
    """An entry of the queue. `is_begun`: it is not tried again if the thread fails on it."""

    content: Outgoing | Sequence[Part]
    is_begun: bool = False


class StreamSender:
    """Sends in order what the hub's loop passes on; the loop never waits for it."""

    def __init__(self, socket: zmq.Socket[bytes], services: ServiceThreads) -> None:
        """Give `socket`, an XPUB, to the thread, which alone uses it from now on."""
        self._socket = socket
        self.topics = HeldTopics(socket)
        self._queue: deque[_Message] = deque()
        self._outcomes: deque[Outcome] = deque()
        self._wake = threading.Lock()
        self._wake.acquire()
        self._stopping = False
        self._thread = services.start("stream", self._run)

    def put(self, *messages: Outgoing | Sequence[Part]) -> int:
        """Queue messages; return how many had no room. A prediction among them becomes an outcome, too."""
        room = max(0, QUEUED - len(self._queue))
        self._queue.extend(_Message(each) for each in messages[:room])
        for each in messages[room:]:
            if isinstance(each, Outgoing):
                self._outcomes.append(Outcome(each, None, "not_sent"))
        self._call()
        return len(messages[room:])

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes of predictions that were settled since the last call."""
        return [self._outcomes.popleft() for _ in range(len(self._outcomes))]

    def stop(self, within_s: float) -> list[Outgoing]:
        """Send what is queued, and close the socket; return the predictions that were not sent in time."""
        self._stopping = True
        self._call()
        self._thread.join(within_s)
        left = [message for message in list(self._queue) if not message.is_begun]
        for message in left:
            message.is_begun = True
        return [message.content for message in left if isinstance(message.content, Outgoing)]

    def _call(self) -> None:
        if self._wake.locked():
            self._wake.release()

    def _run(self) -> None:
        while not self._stopping or self._queue:
            if not self._queue and not self._wake.acquire(timeout=0.0 if self.topics.are_more else IDLE_S):
                self.topics.read()
            while self._queue:
                message = self._queue[0]
                if not message.is_begun:
                    message.is_begun = True
                    self._send(message.content)
                self._queue.popleft()
        self._socket.setsockopt(zmq.LINGER, LINGER_MS)
        self._socket.close()

    def _send(self, content: Outgoing | Sequence[Part]) -> None:
        if not isinstance(content, Outgoing):
            send_parts(self._socket, content)
            return
        outcome = Outcome(content, None, "not_sent")
        try:
            self.topics.read()  # it may take long: read the clock after it
            if content.stale_ns is not None and now_ns() > content.stale_ns:
                outcome = Outcome(content, None, "stale")
            else:
                sent = at_the_send(content)
                self._socket.send(content.topic, NOW | MORE)
                self._socket.send(to_json(sent), NOW)
                outcome = Outcome(content, sent)
        finally:
            self._outcomes.append(outcome)


SUBSCRIBE, UNSUBSCRIBE = b"\x01", b"\x00"
NO_CONNECTION = -1


class HeldTopics:
    """Reads the subscriptions of an XPUB: the first one to each topic, and the end of the last one."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._owners: dict[bytes, int] = {}  # libzmq's descriptor of the connection that subscribed first
        self._bytes: Counter[int] = Counter()
        self.are_more = False

    def read(self) -> None:
        """Let libzmq add and remove topics, and read some of that; `are_more` if others wait.

        `poll` does not hold the interpreter's lock meanwhile, which `get(EVENTS)` would.
        """
        self.are_more = True  # as far as the guard knows, which admits nobody meanwhile
        for _ in range(AT_ONCE):
            self.are_more = bool(self._socket.poll(0))
            if not self.are_more:
                return
            self._take(self._socket.recv(zmq.NOBLOCK, copy=False))

    def by_connection(self) -> Counter[int]:
        """Return the bytes of topics that each connection brought, by libzmq's descriptor. Thread-safe."""
        return Counter(self._bytes.copy())

    def _take(self, frame: zmq.Frame) -> None:
        """Count a topic. Other messages that a peer sends are ignored."""
        kind, topic = frame.bytes[:1], frame.bytes[1:]
        if kind == SUBSCRIBE and topic not in self._owners:
            self._owners[topic] = descriptor = _connection_of(frame)
            self._bytes[descriptor] += len(topic)
        elif kind == UNSUBSCRIBE and topic in self._owners:
            descriptor = self._owners.pop(topic)
            self._bytes[descriptor] -= len(topic)
            if not self._bytes[descriptor]:
                del self._bytes[descriptor]


def _connection_of(frame: zmq.Frame) -> int:
    """Return libzmq's descriptor; NO_CONNECTION if its peer had gone before libzmq read its address."""
    try:
        return int(frame.get(zmq.SRCFD))
    except zmq.ZMQError:
        return NO_CONNECTION


def at_the_send(outgoing: Outgoing) -> Prediction:
    """Return the prediction with the times at its sending."""
    prediction, later_s = outgoing.prediction, seconds_since(outgoing.made_ns)
    made = prediction.seconds
    return replace(
        prediction,
        seconds=replace(made, publish=made.publish + later_s, total=made.total + later_s),
        published_at=wall_s(),
        journaled=outgoing.journaled,
    )
