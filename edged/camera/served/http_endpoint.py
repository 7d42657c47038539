"""The endpoint for programs that use HTTP: a server in a thread of its own, and the requests on their way between.

The thread reads requests and writes answers; the process that serves prepares pictures and knows the hub.
"""

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from ssl import SSLContext

from edged.camera.served.endpoint import AT_ONCE, FittedPicture
from edged.camera.served.http_site import BODY_S, RequestSite
from edged.camera.served.refusals import RefusedRequestError, RequestRefusals
from edged.camera.served.sent_pictures import AnsweredPicture, NoAnswerError, SentPicture, pixels_of, prepared
from edged.clock import nanoseconds, now_ns
from edged.config import CameraConfig
from edged.config.load import key_of
from edged.errors import CameraError
from edged.messages import Capture, FrameAnswer, ServedModel
from edged.transport.tls import server_context
from edged.web.connections import ConnectionServer, Disconnections
from edged.web.limits import ConnectionLimits
from edged.web.server import LAST_WORDS_S, Server, bound

BACKLOG = 4096  # connections that wait in the kernel; it takes fewer where net.core.somaxconn is less
CONNECTIONS = 256
LIMITS = ConnectionLimits(CONNECTIONS, CONNECTIONS, request_s=2 * BODY_S, displaces=False)


@dataclass(eq=False)
class HttpRequest:
    """A picture that a client waits for. `size`: its width and height, once it is prepared."""

    picture: SentPicture = field(repr=False)
    received_ns: int
    due_ns: int
    outcome: "Future[AnsweredPicture]"
    size: tuple[int, int] = (0, 0)


class HttpEndpoint:
    """Listens at host:port, from `open` to `close`."""

    def __init__(
        self, address: str, answer_s: float, key: str | None = None, tls: SSLContext | None = None
    ) -> None:
        """`answer_s`: to answer a picture. `key`: that requests must have; None: they need none."""
        self.inbox = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._address = address
        self._answer_ns = nanoseconds(answer_s)
        self._tls = tls
        self._arrived: deque[HttpRequest] = deque()
        self._refusals = RequestRefusals(address)
        self._disconnections = Disconnections("requests")
        self._site = RequestSite(self._submit, key, self._refusals)
        self._server: Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def refused(self) -> Mapping[str, int]:
        """Return how many requests were refused, by reason."""
        totals = self._disconnections.totals
        return {**self._refusals.counts, "malformed": totals["malformed"], "slow": totals["slow"]}

    @property
    def due_ns(self) -> None:
        """Return None: what waits is with the server of requests."""
        return None

    def open(self) -> None:
        """Listen. Raises CameraError."""
        try:
            listener = bound(self._address, BACKLOG)
        except OSError as error:
            raise CameraError(f"cannot listen at {self._address}: {error.strerror}") from None
        entrance = ConnectionServer(listener, self._tls, LIMITS, self._disconnections)
        self._server = Server(self._site.app(), entrance)
        self._thread = threading.Thread(target=self._server.serve_requests, name="http", daemon=True)
        self._thread.start()

    def receive(self, model: ServedModel | None) -> Iterator[HttpRequest]:
        """Yield the pictures that have arrived, at most `AT_ONCE`. `model`: that serves. Raises CameraError."""
        if self._thread and not self._thread.is_alive():
            raise CameraError(f"the server at {self._address} has ended")
        self._site.model = model
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self.inbox)
        for _ in range(min(AT_ONCE, len(self._arrived))):
            yield self._arrived.popleft()
        if self._arrived:
            os.eventfd_write(self.inbox, 1)

    def prepare(self, request: HttpRequest, wanted: Capture) -> FittedPicture:
        """Return the picture as the network takes it. Raises RefusedRequestError."""
        pixels = pixels_of(request.picture)
        request.size = pixels.shape[1], pixels.shape[0]
        return prepared(pixels, wanted)

    def answer(self, request: HttpRequest, answer: FrameAnswer) -> None:
        """Send what was found."""
        if request.outcome.set_running_or_notify_cancel():
            request.outcome.set_result(AnsweredPicture(answer, *request.size))

    def give_up(self, request: HttpRequest, reason: str) -> None:
        """Answer that there is no answer. `reason`: why its picture was dropped."""
        self._fail(request, NoAnswerError(reason))

    def refuse(self, request: HttpRequest, error: RefusedRequestError) -> None:
        """Answer that a picture cannot be used; the server's thread counts it as it answers."""
        self._fail(request, error)

    def close(self) -> None:
        """Send the last answers, and listen no more."""
        if self._server and self._thread:
            self._server.should_exit = True
            self._thread.join(2 * LAST_WORDS_S)

    def _submit(self, picture: SentPicture) -> "Future[AnsweredPicture]":
        """Hand a picture over from the server's thread."""
        now = now_ns()
        request = HttpRequest(picture, now, now + self._answer_ns, Future())
        self._arrived.append(request)
        os.eventfd_write(self.inbox, 1)
        return request.outcome

    @staticmethod
    def _fail(request: HttpRequest, error: Exception) -> None:
        if request.outcome.set_running_or_notify_cancel():
            request.outcome.set_exception(error)


def http_endpoint(camera: CameraConfig) -> HttpEndpoint:
    """Return the endpoint that a config describes. Raises ConfigError for a key or a certificate."""
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # clients' mistakes, which we log ourselves
    tls = camera.requests and camera.requests.tls
    context = server_context(tls.certificate, tls.key, tls.client_ca) if tls else None
    return HttpEndpoint(camera.serves_at or "", camera.answers_within_s, key_of(camera), context)
