"""Fetches what was missed from a node's journal."""

import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import count

import zmq
from pydantic import ValidationError
from zmq.utils.monitor import parse_monitor_message

from edged.address import is_ipc
from edged.client.received import Arrival
from edged.connect import Context, Curve, unconnected
from edged.errors import MessageError
from edged.messages import ReplayAnswer, ReplayRequest, prediction_from_json

CONNECT_S = 2.0
ANSWER_S = 30.0  # for one page, where hundreds of others fetch theirs too; a hub that dies is noticed within 3 s
LOOK_MS = 100
NUMBERS = count()  # of monitors: libzmq frees the name of one that was closed after a while only
EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED

Page = tuple[ReplayAnswer, list[bytes]]


def fetch(
    context: Context, address: str, request: ReplayRequest, curve: Curve | None = None
) -> Iterator[Arrival | None]:
    """Every prediction that `request` asks for and the journal holds, in order, page by page.

    None now and then while a page is on its way. Raises TimeoutError where nobody answers at `address`,
    ConnectionError where the hub closes the connection, MessageError for an answer that is none.
    """
    connection = _Connection(context, address, curve)
    request = request.model_copy(update={"lines": True})
    try:
        more = True
        while more:
            answer, predictions = yield from connection.ask(request)
            arrivals = [*_readable(predictions)]
            yield from arrivals
            more = answer.more and bool(arrivals)
            if more:
                request = request.model_copy(update={"first_seq": _next_seq(request, arrivals[-1]), "since": None})
    finally:
        connection.close()


class _Connection:
    """To a hub's replay, for the pages of one request."""

    def __init__(self, context: Context, address: str, curve: Curve | None) -> None:
        self._address = address
        self._socket = unconnected(context, zmq.DEALER, address, 10, curve)
        self._monitor = context.socket(zmq.PAIR)
        self._monitor.setsockopt(zmq.LINGER, 0)
        name = f"inproc://replay/{next(NUMBERS)}"
        self._socket.monitor(name, EVENTS)
        self._monitor.connect(name)
        self._socket.connect(address)
        self._is_connected = False

    def ask(self, request: ReplayRequest) -> Generator[None, None, Page]:
        """The page; None as often as there is nothing yet."""
        self._socket.send(request.model_dump_json().encode())
        asked_s = time.monotonic()
        while not self._socket.poll(LOOK_MS):
            self._look()
            if time.monotonic() - asked_s > (ANSWER_S if self._is_connected else CONNECT_S):
                raise TimeoutError(f"{self._address} does not answer replay requests")
            yield None
        header, *payloads = self._socket.recv_multipart()
        return _decoded(header), [line for payload in payloads for line in payload.split(b"\n") if line]

    def _look(self) -> None:
        """Raises ConnectionError where the hub has cut us off: it will never answer what it was asked."""
        while self._monitor.poll(0):
            event = parse_monitor_message(self._monitor.recv_multipart())["event"]
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._is_connected = True
            elif self._is_connected:
                raise ConnectionError(f"{self._address} has closed the connection")

    def close(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close()
        self._socket.close()


def _readable(predictions: list[bytes]) -> Iterator[Arrival]:
    """The others are of another version: they count as lost."""
    for json in predictions:
        with suppress(MessageError):
            yield Arrival(prediction_from_json(json), json)


def _next_seq(request: ReplayRequest, arrival: Arrival) -> int:
    """Raises MessageError where numbers do not grow: one would ask for ever."""
    last = arrival.prediction.seq
    if last < (request.first_seq or 0):
        raise MessageError(f"the answer to a replay request from {request.first_seq} ends at {last}")
    return last + 1


def _decoded(header: bytes) -> ReplayAnswer:
    try:
        return ReplayAnswer.model_validate_json(header)
    except ValidationError:
        raise MessageError("the answer to a replay request does not fit the schema: another version?") from None


def next_port(address: str) -> str:
    """Where a hub answers replay requests unless it is told otherwise."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + 1}" if port.isdigit() else address


def same_host(address: str, replay: str) -> str:
    """The port of `replay` on the host of `address`: a hub may know itself by a name that is of no use to us."""
    if is_ipc(address) or is_ipc(replay):
        return replay
    host, port = address.rpartition(":")[0], replay.rpartition(":")[2]
    return f"{host}:{port}"
