"""Send events to the URL of `notify`, in a thread that the hub's loop never waits for.

A notification that cannot be delivered is tried again until newer ones take its place, or its receiver refuses it.
"""

import base64
import logging
import socket
import threading
from collections import deque
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Literal, get_args
from urllib.parse import urlsplit

from edged import __version__
from edged.config import Config
from edged.config.load import password_in
from edged.config.notify import TOKEN, NotifyConfig, Occasion
from edged.errors import ConfigError
from edged.hub.service_threads import ServiceThreads
from edged.messages import Event, to_json
from edged.metrics import Metrics
from edged.system.backoff import Backoff
from edged.system.plain_text import counted
from edged.transport.tls import client_context

OCCASIONS: Mapping[Occasion, frozenset[str]] = {
    "state": frozenset({"state"}),
    "camera": frozenset(
        {"camera_up", "camera_down", "camera_lost", "camera_ended", "camera_frozen", "camera_unfrozen"}
    ),
    "worker": frozenset({"worker_up", "worker_lost", "worker_stuck", "fallback", "device_retried"}),
}
WAITING = 100  # notifications; above it, the oldest are dropped
LIMIT_S = 10.0  # for a connection, and then for the request and its answer
LONGEST_WAIT_S = 60.0  # between two attempts
END_S = 1.0  # for what still waits at the end
AGAIN = {408, 425, 429}  # with those from 500 on, statuses that pass

Fate = Literal["sent", "refused", "dropped"]

log = logging.getLogger("edged.hub")


class UndeliveredError(Exception):
    """An attempt that may succeed later: why it did not."""


class Receiver:
    """Who gets which notifications. Raises ConfigError for a file that cannot be used."""

    def __init__(self, config: NotifyConfig) -> None:
        self.shown = config.shown
        self._wanted = frozenset[str]().union(*(OCCASIONS[each] for each in config.when))
        token = password_in(config.token_file) if config.token_file else ""
        if not token.isascii():
            raise ConfigError(f"{config.token_file}: expected a token of ASCII characters")
        self._url = urlsplit(config.url_with(token))
        self._tls = client_context(config.ca) if self._url.scheme == "https" else None
        self._is_text = config.format == "text"
        self._headers = {"User-Agent": f"edged/{__version__}"}
        if config.user is not None:
            password = password_in(config.password_file) if config.password_file else ""
            given = base64.b64encode(f"{config.user}:{password}".encode()).decode()
            self._headers["Authorization"] = f"Basic {given}"
        elif token and TOKEN not in config.url:
            self._headers["Authorization"] = f"Bearer {token}"

    def wants(self, event: Event) -> bool:
        """Return whether `notify.when` names such an event."""
        return event.event in self._wanted

    def deliver(self, event: Event) -> int:
        """Send an event, and return the HTTP status. Raises UndeliveredError if there is none within `LIMIT_S`."""
        kind = "text/plain; charset=utf-8" if self._is_text else "application/json"
        body = event.message.encode() if self._is_text else to_json(event)
        target = f"{self._url.path or '/'}{'?' if self._url.query else ''}{self._url.query}"
        connection = self._connection()
        limit = threading.Timer(LIMIT_S, _end, [connection])
        limit.daemon = True
        try:
            connection.connect()
            limit.start()  # the time-out of a socket begins again with each byte
            connection.request("POST", target, body, {"Content-Type": kind, **self._headers})
            return connection.getresponse().status
        except TimeoutError:
            raise UndeliveredError(f"gives no answer within {LIMIT_S:g} s") from None
        except (OSError, HTTPException, UnicodeError) as error:  # UnicodeError: a name that is no host's
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise UndeliveredError(f"does not answer: {why}") from None
        finally:
            limit.cancel()
            connection.close()

    def _connection(self) -> HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._tls:
            return HTTPSConnection(host, port, timeout=LIMIT_S, context=self._tls)
        return HTTPConnection(host, port, timeout=LIMIT_S)


def receiver_of(config: Config) -> Receiver | None:
    """Return the receiver of a config, None without `notify`. Raises ConfigError as the receiver does."""
    return Receiver(config.notify) if config.notify else None


def _end(connection: HTTPConnection) -> None:
    """Let the thread that waits for this connection go on."""
    try:
        if connection.sock:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


class Notifier:
    """Queues the events that are wanted. What is public is for the hub's loop, the rest for its own thread."""

    def __init__(self, services: ServiceThreads, metrics: Metrics) -> None:
        self._services = services
        self._total, self._failures = metrics.notifications, metrics.notification_failures
        self._receiver: Receiver | None = None
        self._states: dict[tuple[str | None, str | None], str | None] = {}  # by camera and name
        self._waiting: deque[Event] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._hurry = threading.Event()  # ends a pause between two attempts
        self._is_stopping = False
        self._problem = ""  # that was reported last
        self._thread: threading.Thread | None = None

    def send_to(self, receiver: Receiver | None) -> None:
        """Send what waits, and all later events, to this receiver; None: drop what waits, and send nothing."""
        before, self._receiver, self._problem = self._receiver, receiver, ""
        if before and not receiver:
            self._report_unsent(before)
            self._drop_all()
        elif receiver and not self._thread:
            for fate in get_args(Fate):
                self._total.labels(fate)
            self._thread = self._services.start("notify", self._run)
        elif before:
            self._hurry.set()
        self._wake.set()

    def put(self, event: Event) -> None:
        """Queue an event if it is wanted; above `WAITING`, drop the oldest."""
        is_news = event.event != "state" or self._is_change(event)  # a receiver that comes later needs the state
        if not self._receiver or not self._receiver.wants(event) or not is_news:
            return
        with self._lock:
            self._waiting.append(event)
            is_over = len(self._waiting) > WAITING
            if is_over:
                self._waiting.popleft()
        if is_over:
            self._count("dropped")
        self._wake.set()

    def stop(self) -> None:
        """End the thread, after a last attempt to send what waits, and say how much is left."""
        self._is_stopping = True
        self._hurry.set()
        self._wake.set()
        if self._thread:
            self._thread.join(END_S)
        if self._receiver:
            self._report_unsent(self._receiver)

    def _report_unsent(self, receiver: Receiver) -> None:
        if self._waiting:
            log.warning("notify: not sent to %s: %s", receiver.shown, counted(len(self._waiting), "notification"))

    def _drop_all(self) -> None:
        with self._lock:
            self._total.labels("dropped").inc(len(self._waiting))
            self._waiting.clear()

    def _is_change(self, event: Event) -> bool:
        """Return whether the camera saw another state before. Its first one since the start is no change."""
        which = event.camera, event.name
        is_known, before = which in self._states, self._states.get(which)
        self._states[which] = event.state
        return is_known and before != event.state

    def _run(self) -> None:
        backoff = Backoff(longest_s=LONGEST_WAIT_S)
        while True:
            while (receiver := self._receiver) and (event := self._oldest()):
                try:
                    self._deliver(event, receiver)
                    backoff.succeeded()
                except UndeliveredError as error:
                    self._failures.inc()
                    problem = f"{error}; it is tried again, and at most {WAITING} notifications wait"
                    self._report(receiver, problem)
                    if self._is_cut_short(backoff):
                        return
            if self._is_stopping:
                return
            self._wake.wait()
            self._wake.clear()

    def _is_cut_short(self, backoff: Backoff) -> bool:
        """Wait until the next attempt, which a new receiver gets at once; return True at the end."""
        if self._hurry.wait(backoff.failed()):
            self._hurry.clear()
            backoff.succeeded()
        return self._is_stopping

    def _oldest(self) -> Event | None:
        with self._lock:
            return self._waiting[0] if self._waiting else None

    def _deliver(self, event: Event, receiver: Receiver) -> None:
        """Send an event, and forget it unless it may succeed later. Raises UndeliveredError then."""
        status = receiver.deliver(event)
        if status >= 500 or status in AGAIN:
            raise UndeliveredError(f"answers with status {status}")
        is_sent = 200 <= status < 300
        self._count("sent" if is_sent else "refused")
        if is_sent and self._problem:
            log.info("notify: %s takes notifications again", receiver.shown)
            self._problem = ""
        elif not is_sent:
            problem = f"refuses a notification with status {status}, and so it is dropped: see notify.url"
            self._report(receiver, problem)
        with self._lock:
            if self._waiting and self._waiting[0] is event:  # else it was dropped meanwhile
                self._waiting.popleft()

    def _count(self, fate: Fate) -> None:
        self._total.labels(fate).inc()

    def _report(self, receiver: Receiver, problem: str) -> None:
        """Log a problem of the receiver once, until it takes notifications again."""
        if receiver is not self._receiver:  # another one was configured meanwhile
            return
        if problem != self._problem:
            log.warning("notify: %s %s", receiver.shown, problem)
        self._problem = problem
