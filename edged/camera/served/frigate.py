"""The endpoint to which Frigate's `zmq` detectors connect: a ROUTER, which answers clients in any order.

Each client is a REQ socket, which has one request at a time. Every request gets an answer of the protocol, also
one that cannot be read: a REQ without an answer gives up, and Frigate with it.
"""

import errno
import logging
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec
import zmq

from edged.camera.served.endpoint import AT_ONCE, FittedPicture
from edged.camera.served.frigate_messages import (
    HEADER,
    NOTHING,
    FrigatePicture,
    ModelQuery,
    ModelUpload,
    PixelScale,
    read_request,
    rows_of,
)
from edged.camera.served.refusals import RefusedRequestError, RequestRefusals
from edged.clock import nanoseconds, now_ns
from edged.errors import CameraError
from edged.messages import Capture, FrameAnswer, ServedModel
from edged.transport.address import is_ipc, is_ipv6

PATIENCE_S = 25.0  # Frigate waits 30 s for the answer to its first request, and never asks again
LARGEST_BYTES = 1 << 27  # of a picture, or of a model that is refused
LAST_WORDS_MS = 100

log = logging.getLogger(__name__)

Client = tuple[bytes, ...]


@dataclass(frozen=True, eq=False)
class FrigateRequest:
    """A picture that Frigate waits for. client: the first parts of the answer, by which it finds the client."""

    client: Client
    picture: FrigatePicture
    received_ns: int
    due_ns: int


@dataclass(frozen=True)
class _Held:
    """A question for the model that is answered when workers serve, at `due_ns` in any case."""

    client: Client
    query: ModelQuery
    due_ns: int


class FrigateEndpoint:
    """Reads requests and sends answers."""

    def __init__(self, address: str, folder: Path | None, answer_s: float) -> None:
        """`folder`: with the model's file; None: it is none of this host. `answer_s`: to answer a picture."""
        self._address = address
        self._folder = folder
        self._answer_ns = nanoseconds(answer_s)
        self._held: deque[_Held] = deque()  # in the order in which they are due
        self._scale = PixelScale()
        self._refusals = RequestRefusals(address)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.inbox = self._context.socket(zmq.ROUTER)
        self.inbox.setsockopt(zmq.LINGER, 0)
        self.inbox.setsockopt(zmq.RCVHWM, 2)  # of each client, which has one request at a time
        self.inbox.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        self.inbox.setsockopt(zmq.IPV6, is_ipv6(address))

    @property
    def refused(self) -> Mapping[str, int]:
        """Return how many requests were refused, by reason."""
        return self._refusals.counts

    def open(self) -> None:
        """Listen. Raises CameraError."""
        try:
            self.inbox.bind(self._address)
        except zmq.ZMQError as error:
            raise CameraError(f"cannot listen at {self._address}: {_why(error, self._address)}") from None

    def receive(self, model: ServedModel | None) -> Iterator[FrigateRequest]:
        """Yield pictures that have arrived, at most `AT_ONCE`; answer all other requests. `model`: that serves."""
        self._answer_held(model)
        for _ in range(AT_ONCE):
            if (received := self._receive_parts()) is None:
                return
            client, parts = received
            try:
                request = read_request(parts)
                if isinstance(request, FrigatePicture):
                    now = now_ns()
                    yield FrigateRequest(client, request, now, now + self._answer_ns)
                elif isinstance(request, ModelUpload):
                    self._answer_upload(client, request, model)
                else:
                    self._answer_query(client, request, model)
            except RefusedRequestError as error:
                self._refuse(client, error)

    @property
    def due_ns(self) -> int | None:
        """Return when the first question for the model that waits must be answered."""
        return self._held[0].due_ns if self._held else None

    def prepare(self, request: FrigateRequest, wanted: Capture) -> FittedPicture:
        """Return the pixels of a picture of the size that the network takes. Raises RefusedRequestError."""
        height, width = request.picture.size
        if (width, height) != (wanted.width, wanted.height):
            takes = f"width: {wanted.width} and height: {wanted.height}"
            raise RefusedRequestError(
                "size",
                f"a picture of {width}×{height}: set {takes} in `model` of Frigate's config, as the model takes",
            )
        pixels = self._scale.pixels(request.picture)
        return FittedPicture(pixels, whole=pixels)

    def answer(self, request: FrigateRequest, answer: FrameAnswer) -> None:
        """Send the boxes of an answer."""
        self._send(request.client, [HEADER, rows_of(answer.boxes or ())])

    def give_up(self, request: FrigateRequest, reason: str) -> None:
        """Answer that nothing was found, as Frigate takes no errors."""
        self._send(request.client, [HEADER, NOTHING])

    def refuse(self, request: FrigateRequest, error: RefusedRequestError) -> None:
        """Answer that nothing was found; count and log the mistake."""
        self._refuse(request.client, error)

    def close(self) -> None:
        """Close the socket; what was sent is delivered shortly."""
        self.inbox.close(linger=LAST_WORDS_MS)
        self._context.term()

    def _refuse(self, client: Client, error: RefusedRequestError) -> None:
        self._refusals.add(error)
        self._send(client, [HEADER, NOTHING])

    def _receive_parts(self) -> tuple[Client, Sequence[zmq.Frame]] | None:
        """Return the address of a client, up to the empty part that a REQ sends first, and its message."""
        try:
            identity, *parts = self.inbox.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return None
        if parts and not len(parts[0]):
            return (identity.bytes, b""), parts[1:]
        return (identity.bytes,), parts

    def _answer_held(self, model: ServedModel | None) -> None:
        """Answer the questions for the model that wait, once workers serve or it is time."""
        now, ready = now_ns(), model is not None and model.ready
        while self._held and (ready or self._held[0].due_ns <= now):
            held = self._held.popleft()
            if ready:
                self._answer_query(held.client, held.query, model)
            else:
                self._send_model(held.client, is_available=self._is_there(held.query.name, model), loaded=False)

    def _answer_query(self, client: Client, query: ModelQuery, model: ServedModel | None) -> None:
        """Answer whether the model is loaded; wait with the answer where the model may yet come."""
        if model and model.task != "detect":
            self._send_model(client, is_available=True, loaded=False)
            self._refusals.add(
                RefusedRequestError("model", f"model {model.name} is a classifier: Frigate needs a detector")
            )
        elif model and not _is_named(query.name, model):
            self._send_model(client, is_available=self._is_there(query.name, model), loaded=False)
            self._refusals.add(RefusedRequestError("model", _another(query.name, model)))
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
            self._refusals.add(
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
            self.inbox.send_multipart([*client, *parts], zmq.NOBLOCK)
        except zmq.ZMQError as error:
            log.debug("an answer cannot be sent: %s", error.strerror)


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
