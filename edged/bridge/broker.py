"""A connection to an MQTT broker, which is made anew whenever it ends. The only module that imports paho-mqtt.

paho's own queue is not used: after an interruption it sends what was not acknowledged behind what is newer, so a
retained topic ends with an old value; and beyond 1,000 messages it drops retained topics silently. So each
connection is a client of its own, which gets a few messages at a time.
"""

import logging
import math
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from edged.bridge.outbox import Outbox
from edged.bridge.retained import RetainedTopics
from edged.bridge.topics import MqttMessage
from edged.config import MqttConfig
from edged.config.load import password_in
from edged.errors import ConfigError
from edged.system.backoff import Backoff
from edged.system.python_packages import install_command
from edged.transport.tls import client_context

if TYPE_CHECKING:
    from paho.mqtt.client import Client

KEEPALIVE_S = 15
LONGEST_WAIT_S = 30  # between two attempts to connect
LASTING_S = 10  # a connection that was accepted and lasts so long has succeeded
AT_ONCE = 20  # messages that the broker has not acknowledged
END_S = 2.0  # for what still waits at the end
HEADER = 32  # bytes of a message beside topic and payload, at most

log = logging.getLogger("edged.bridge")


class Broker:
    """Publishes to a broker, in a thread of its own.

    paho's callbacks only put calls into that thread's queue: paho holds locks of its own while it calls them.
    """

    def __init__(self, config: MqttConfig, client_id: str, will: MqttMessage, topics: RetainedTopics) -> None:
        """`will`: what the broker publishes if this process ends without a word. Raises ConfigError."""
        try:
            from paho.mqtt.enums import MQTTProtocolVersion
        except ImportError:
            raise ConfigError(f"edged bridge mqtt needs paho-mqtt: {install_command('paho-mqtt')}") from None
        self._config, self._client_id, self._will, self._topics = config, client_id, will, topics
        self._password = password_in(config.password_file) if config.password_file else None
        self._tls = client_context(config.ca, config.own) if config.is_encrypted else None
        self._versions = [MQTTProtocolVersion.MQTTv5, MQTTProtocolVersion.MQTTv311]  # the first one is tried next
        self._lock = threading.Lock()  # of the outbox
        self._outbox = Outbox(topics.saved)
        self._in_use: Collection[str] | None = None
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._settled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="broker", daemon=True)
        # the rest belongs to the thread
        self._present: Client | None = None  # the client that connects, or is connected
        self._client: Client | None = None  # the same, while the broker has accepted its connection
        self._is_over = self._has_answered = False  # of the connection
        self._accepted_s = math.inf  # when it was, by the monotonic clock
        self._unacknowledged: dict[int, MqttMessage] = {}  # by paho's number
        self._largest = math.inf  # bytes of a message that the broker takes
        self._problems: set[str] = set()  # that were reported since the last connection that lasted
        self._refused: set[str] = set()  # kinds of refusals that were reported

    def start(self) -> None:
        """Connect, now and whenever the connection is lost."""
        self._thread.start()

    def publish(self, messages: Iterable[MqttMessage], in_use: Collection[str] | None = None) -> None:
        """Publish messages; a retained one that repeats the last of its topic is left out.

        `in_use`: the topics that the broker may retain from now on; others are emptied.
        """
        with self._lock:
            for message in messages:
                self._outbox.put(message)
            if in_use is not None and in_use is not self._in_use:
                self._in_use = in_use
                self._outbox.keep_only(in_use)
            if self._outbox.is_empty:
                return
            self._settled.clear()
            self._topics.save(self._outbox.retained)  # before the broker has them
        self._calls.put(self._send)

    def stop(self, last: MqttMessage) -> None:
        """Publish the last message, and disconnect."""
        self.publish([last])
        self._settled.wait(END_S if self._client else 0.0)
        self._stopping.set()
        self._calls.put(self._disconnect)
        self._thread.join(END_S)

    def _run(self) -> None:
        backoff = Backoff(longest_s=LONGEST_WAIT_S)
        while not self._stopping.is_set():
            self._connect_until_it_ends()
            if time.monotonic() - self._accepted_s > LASTING_S:
                self._problems.clear()
                backoff.succeeded()
            wait_s = backoff.failed()
            if not self._stopping.is_set():
                log.info("next attempt in %d s", math.ceil(wait_s))
            self._stopping.wait(wait_s)

    def _connect_until_it_ends(self) -> None:
        self._is_over = self._has_answered = False
        self._accepted_s = math.inf
        host, port = self._config.host_and_port
        client = self._present = self._new_client()
        try:
            client.connect(host, port, KEEPALIVE_S)
        except OSError:
            or_refused = ", or its certificate is not trusted" if self._config.is_encrypted else ""
            self._report(f"{self._config.address} does not answer{or_refused}")
            return
        client.loop_start()
        try:
            while not self._is_over and not (self._stopping.is_set() and self._client is None):
                self._calls.get()()
        finally:
            client.loop_stop()
            self._client = None
        if not self._has_answered and not self._stopping.is_set():
            self._versions.reverse()  # an old broker may end a connection of MQTT 5 without a word
            self._report(f"{self._config.address} ends the connection before it has answered")

    def _new_client(self) -> "Client":
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=self._client_id,
            protocol=self._versions[0],
            reconnect_on_failure=False,
        )
        client.on_connect = self._later(self._connected)
        client.on_disconnect = self._later(self._disconnected)
        client.on_publish = self._later(self._published)
        client.will_set(self._will.topic, self._will.payload, self._will.qos, self._will.retain)
        if self._config.user is not None:
            client.username_pw_set(self._config.user, self._password)
        if self._tls:
            client.tls_set_context(self._tls)
        return client

    def _later(self, call: Callable[..., None]) -> Callable[..., None]:
        """Return a callback for paho that has `call` called by our thread with what the client reports.

        A client reports the end of a silent connection twice; by then another one may have taken its place.
        """
        return lambda client, _data, *reported: self._calls.put(
            lambda: call(*reported) if client is self._present else None
        )

    def _connected(self, _flags: Any, reason: Any, properties: Any) -> None:
        self._has_answered = True
        if reason.is_failure:
            if reason == "Unsupported protocol version":
                self._versions.reverse()
            self._report(f"{self._config.address} rejects the connection: {reason}")
            return
        log.info("connected to %s", self._config.address)
        self._client, self._accepted_s = self._present, time.monotonic()
        self._largest = getattr(properties, "MaximumPacketSize", math.inf)
        with self._lock:
            self._outbox.begin_again(self._unacknowledged.values())
        self._unacknowledged.clear()
        self._send()

    def _disconnected(self, _flags: Any, reason: Any, _properties: Any) -> None:
        self._is_over = True
        if self._client and reason.is_failure:
            self._report(f"the connection to {self._config.address} is lost: {reason}")

    def _disconnect(self) -> None:
        if self._client:
            self._client.disconnect()

    def _send(self) -> None:
        """Give the client as many messages as may be under way."""
        while self._client and len(self._unacknowledged) < AT_ONCE and (message := self._take()):
            size = len(message.topic.encode()) + len(message.payload) + HEADER
            if size > self._largest:
                self._refuse(
                    "size", message, f"it has {size:,} bytes, the broker takes {self._largest:,}: too large"
                )
            else:
                sent = self._client.publish(message.topic, message.payload, message.qos, message.retain)
                self._unacknowledged[sent.mid] = message
        with self._lock:
            if self._outbox.is_empty and not self._unacknowledged:
                self._settled.set()

    def _take(self) -> MqttMessage | None:
        with self._lock:
            return self._outbox.take()

    def _published(self, number: int, reason: Any, _properties: Any) -> None:
        message = self._unacknowledged.pop(number, None)
        if message and reason.is_failure:
            self._refuse(str(reason), message, str(reason))
        elif message:
            with self._lock:
                self._outbox.acknowledged(message)
        self._send()

    def _refuse(self, kind: str, message: MqttMessage, why: str) -> None:
        """Report, once for each kind, that the broker does not take a message."""
        if kind not in self._refused:
            self._refused.add(kind)
            log.warning("%s refuses %s: %s; such messages are dropped", self._config.address, message.topic, why)

    def _report(self, problem: str) -> None:
        """Log a problem once, until a connection lasts."""
        if problem not in self._problems:
            log.warning("%s; trying again", problem)
        self._problems.add(problem)
