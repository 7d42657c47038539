"""The endpoint to which Frigate's `zmq` detectors connect: a ROUTER, which answers clients in any order.

Each client is a REQ socket, which has one request at a time. Every request gets an answer of the protocol, also
one that cannot be read: a REQ without an answer gives up, and Frigate with it.
"""

import errno
import logging
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import zmq

from edged.camera.served.frigate_messages import (
    HEADER,
    NOTHING,
    FrigatePicture,
    ModelQuery,
    ModelUpload,
    RefusedRequestError,
    read_request,
    rows_of,
)
from edged.camera.served.request_queue import PictureRequest
from edged.clock import nanoseconds, now_ns
from edged.errors import CameraError
from edged.messages import FrameAnswer, ServedModel
from edged.transport.address import is_ipc, is_ipv6

AT_ONCE = 256  # requests that are read before the hub's messages are
PATIENCE_S = 25.0  # Frigate waits 30 s for the answer to its first request, and never asks again
LARGEST_BYTES = 1 << 27  # of a picture, or of a model that is refused
LAST_WORDS_MS = 100
LOGGED = 50  # kinds of mistakes

log = logging.getLogger(__name__)

Client = tuple[bytes, ...]


@dataclass(frozen=True)
class _Held:
    """A question for the model that is answered when workers serve, at `due_ns` in any case."""

    client: Client
    query: ModelQuery
    due_ns: int


class FrigateEndpoint:
    """Reads requests and sends answers. `refused`: how many requests were, by reason."""

    def __init__(self, address: str, folder: Path | None, answer_s: float) -> None:
        """`folder`: with the model's file; None: it is none of this host. `answer_s`: to answer a picture."""
        self.refused: Counter[str] = Counter()
        self._address = address
        self._folder = folder
        self._answer_ns = nanoseconds(answer_s)
        self._held: deque[_Held] = deque()  # in the order in which they are due
        self._logged: set[str] = set()
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.socket = self._context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, 2)  # of each client, which has one request at a time
        self.socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        self.socket.setsockopt(zmq.IPV6, is_ipv6(address))

    def open(self) -> None:
        """Listen. Raises CameraError."""
        try:
            self.socket.bind(self._address)
        except zmq.ZMQError as error:
            raise CameraError(f"cannot listen at {self._address}: {_why(error, self._address)}") from None

    def receive(self, model: ServedModel | None) -> Iterator[PictureRequest]:
        """Yield pictures that have arrived, at most `AT_ONCE`; answer all other requests. `model`: that serves."""
        for _ in range(AT_ONCE):
            if (received := self._receive_parts()) is None:
                return
            client, parts = received
            try:
                request = read_request(parts)
                if isinstance(request, FrigatePicture):
                    now = now_ns()
                    yield PictureRequest(client, request, now, now + self._answer_ns)
                elif isinstance(request, ModelUpload):
                    self._answer_upload(client, request, model)
                else:
                    self._answer_query(client, request, model)
            except RefusedRequestError as error:
                self.refuse(client, error)

    @property
    def due_ns(self) -> int | None:
        """Return when `answer_held` must be called at the latest."""
        return self._held[0].due_ns if self._held else None

    def answer_held(self, model: ServedModel | None) -> None:
        """Answer the questions for the model that wait, once workers serve or it is time."""
        now, ready = now_ns(), model is not None and model.ready
        while self._held and (ready or self._held[0].due_ns <= now):
            held = self._held.popleft()
            if ready:
                self._answer_query(held.client, held.query, model)
            else:
                self._send_model(held.client, is_available=self._is_there(held.query.name, model), loaded=False)

    def answer(self, request: PictureRequest, answer: FrameAnswer | None) -> None:
        """Send the boxes of an answer; None, or an answer without: nothing was found."""
        rows = rows_of(answer.boxes) if answer and answer.boxes else NOTHING
        self._send(request.client, [HEADER, rows])

    def refuse(self, client: Client, error: RefusedRequestError) -> None:
        """Answer that nothing was found; count and log the mistake."""
        self._count(error)
        self._send(client, [HEADER, NOTHING])

    def close(self) -> None:
        """Close the socket; what was sent is delivered shortly."""
        self.socket.close(linger=LAST_WORDS_MS)
        self._context.term()

    def _receive_parts(self) -> tuple[Client, Sequence[zmq.Frame]] | None:
        """Return the address of a client, up to the empty part that a REQ sends first, and its message."""
        try:
            identity, *parts = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None
        if parts and not len(parts[0]):
            return (identity.bytes, b""), parts[1:]
        return (identity.bytes,), parts

    def _answer_query(self, client: Client, query: ModelQuery, model: ServedModel | None) -> None:
        """Answer whether the model is loaded; wait with the answer where the model may yet come."""
        if model and model.task != "detect":
            self._send_model(client, is_available=True, loaded=False)
            self._count(
                RefusedRequestError("model", f"model {model.name} is a classifier: Frigate needs a detector")
            )
        elif model and not _is_named(query.name, model):
            self._send_model(client, is_available=self._is_there(query.name, model), loaded=False)
            self._count(RefusedRequestError("model", _another(query.name, model)))
        elif model and model.ready:
            self._send_model(client, is_available=True, loaded=True)
        else:
            self._held.append(_Held(client, query, now_ns() + nanoseconds(PATIENCE_S)))

    def _answer_upload(self, client: Client, upload: ModelUpload, model: ServedModel | None) -> None:
        """Refuse a model, unless it is the one that runs, under another name."""
        runs = model is not None and sha256(upload.data.buffer).hexdigest() == model.sha256
        self._send(client, [msgspec.json.encode({"model_saved": runs, "model_loaded": runs})])
        if not runs:
            what = f"a client sent a model, {upload.name[:80]!r}, of {len(upload.data)} bytes"
            self._count(
                RefusedRequestError("upload", f"{what}: edged takes none from clients; set model.path of edged")
            )

    def _is_there(self, name: str, model: ServedModel | None) -> bool:
        """Return whether the model of this name runs, or its file lies beside the one that does."""
        if model and _is_named(name, model):
            return True
        is_plain = bool(name) and os.path.basename(name) == name and name not in {".", ".."}
        return is_plain and "\0" not in name and self._folder is not None and (self._folder / name).is_file()

    def _send_model(self, client: Client, *, is_available: bool, loaded: bool) -> None:
        answer = {"model_available": is_available, "model_loaded": is_available and loaded}
        self._send(client, [msgspec.json.encode(answer)])

    def _send(self, client: Client, parts: Sequence[bytes]) -> None:
        """Send an answer; a client that is gone, or reads nothing, gets none."""
        try:
            self.socket.send_multipart([*client, *parts], zmq.NOBLOCK)
        except zmq.ZMQError as error:
            log.debug("an answer cannot be sent: %s", error.strerror)

    def _count(self, error: RefusedRequestError) -> None:
        """Count a mistake; log it if it is a new one."""
        self.refused[error.reason] += 1
        if str(error) not in self._logged and len(self._logged) < LOGGED:
            self._logged.add(str(error))
            log.warning("a request at %s is refused: %s", self._address, error)


def _is_named(name: str, model: ServedModel) -> bool:
    """Return whether `name` is that of the model, or of its file."""
    return model.name in {name, os.path.splitext(name)[0]}


def _another(name: str, model: ServedModel) -> str:
    return (
        f"Frigate asks for model {name[:80]!r}, but {model.name} runs: give model.path in Frigate's config the "
        "same file name as model.path in edged's"
    )


def _why(error: zmq.ZMQError, address: str) -> str:
    if is_ipc(address) and error.errno == errno.ENOENT:
        return "its folder does not exist: create it"
    return f"{error.strerror}"
