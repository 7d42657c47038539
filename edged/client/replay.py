"""Fetch predictions from a hub's journal, page by page, and name what it no longer holds; and its last events."""

import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import msgspec
import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.client.subscription import Arrival, Subscription
from edged.errors import MessageError
from edged.messages import (
    Event,
    EventsAnswer,
    EventsRequest,
    ReplayAnswer,
    ReplayFailure,
    ReplayRequest,
    Status,
    prediction_from_json,
)
from edged.messages.message import INVALID_JSON
from edged.transport.address import is_ipc
from edged.transport.client_socket import Context, Curve, curve_of, unconnected

CONNECT_S = 2.0
ANSWER_S = 30.0  # for one page, even if hundreds of other clients fetch; a hub that dies is noticed within 3 s
LOOK_MS = 100
LARGEST_PAGE = 1 << 25  # bytes of JSON in one answer: a hub sends a page of 1 MB, and at most one more prediction
NUMBERS = count()  # numbers the monitor sockets: libzmq releases the name of a closed one only later
EVENTS = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED

Page = tuple[ReplayAnswer, list[bytes]]
HEADER: msgspec.json.Decoder[ReplayAnswer | ReplayFailure] = msgspec.json.Decoder(ReplayAnswer | ReplayFailure)

TICK_MS = 100


@dataclass(frozen=True, slots=True)
class Lost:
    """Predictions that the journal no longer holds: `number` of those from `first` to `last`, both included."""

    node: str
    boot: str
    first: int
    last: int
    number: int


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """Predictions in order, and how many numbers between them were never published.

    `first`, `last`: the numbers that it covers; None for a request without them.
    """

    arrivals: list[Arrival]
    withdrawn: int
    first: int | None = None
    last: int | None = None

    def in_order(self, node: str, boot: str) -> Iterator[Arrival | Lost]:
        """Yield the predictions, and what is lost before the first one that follows it."""
        missing = self.missing()
        for arrival in self.arrivals:
            if missing and arrival.prediction.seq > missing[0]:
                yield Lost(node, boot, *missing)
                missing = None
            yield arrival
        if missing:
            yield Lost(node, boot, *missing)

    def missing(self) -> tuple[int, int, int] | None:
        """Return the first and last number that are lost, and how many are between them; None: none is."""
        if self.first is None or self.last is None:
            return None
        numbers = [arrival.prediction.seq for arrival in self.arrivals]
        first, last = self.first, self.last
        lost = last - first + 1 - len(numbers) - self.withdrawn
        for number in numbers:
            first += number == first
        for number in reversed(numbers):
            last -= number == last
        return (first, last, lost) if lost > 0 else None


def fetch_pages(
    context: Context, address: str, request: ReplayRequest, curve: Curve | None = None
) -> Iterator[FetchedPage | None]:
    """Fetch all that `request` covers, page by page; yields None while a page is on its way.

    Raises TimeoutError if nothing answers at `address`, ConnectionError if the hub closes the connection,
    MessageError for an invalid answer or if the hub cannot read its journal.
    """
    connection = _Connection(context, address, curve)
    request = msgspec.structs.replace(request, format="zlib")
    try:
        while True:
            answer, predictions = yield from connection.ask(request)
            last = request.last_seq if answer.next_seq is None else answer.next_seq - 1
            yield FetchedPage([*_readable(predictions)], answer.withdrawn, request.first_seq, last)
            if answer.next_seq is None:
                return
            if answer.next_seq <= (request.first_seq or 0):  # it would request the same page for ever
                first, next_ = request.first_seq, answer.next_seq
                raise MessageError(f"the answer to a replay request from {first} continues at {next_}")
            request = msgspec.structs.replace(request, first_seq=answer.next_seq, since=None)
    finally:
        connection.close()


def fetch_events(context: Context, address: str, curve: Curve | None = None) -> Generator[None, None, list[Event]]:
    """Return the last events of the present start of the hub, oldest first; yield None while none have arrived.

    Raises what `fetch_pages` does.
    """
    connection = _Connection(context, address, curve)
    try:
        header, *payloads = yield from connection.answer_to(EventsRequest())
        answer = msgspec.json.decode(header, type=EventsAnswer | ReplayFailure)
        if isinstance(answer, ReplayFailure):
            raise MessageError(answer.problem)
        lines = payloads[0].split(b"\n") if payloads and payloads[0] else []
        return [msgspec.json.decode(line, type=Event) for line in lines]
    except INVALID_JSON:
        raise MessageError("the answer to an events request does not fit the schema: another version?") from None
    finally:
        connection.close()


class _Connection:
    """A connection to a hub's replay endpoint, for the pages of one request."""

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
        """Send the request and return its page; yield None while it has not arrived."""
        header, *payloads = yield from self.answer_to(request)
        return _decoded(header), _lines(payloads)

    def answer_to(self, request: ReplayRequest | EventsRequest) -> Generator[None, None, list[bytes]]:
        """Send the request and return the parts of its answer; yield None while it has not arrived."""
        self._socket.send(msgspec.json.encode(request))
        asked_s = time.monotonic()
        while not self._socket.poll(LOOK_MS):
            self._look()
            if time.monotonic() - asked_s > (ANSWER_S if self._is_connected else CONNECT_S):
                raise TimeoutError(f"{self._address} does not answer replay requests")
            yield None
        return self._socket.recv_multipart()

    def _look(self) -> None:
        """Raises ConnectionError if the hub has disconnected us: it will never answer the request."""
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
    """Return the predictions that can be read. Those of another version count as lost."""
    for json in predictions:
        with suppress(MessageError):
            yield Arrival(prediction_from_json(json), json)


def _lines(payloads: list[bytes]) -> list[bytes]:
    """Unpack the predictions of an answer; a hub without a journal sends none.

    Raises MessageError for an answer that is not compressed, or larger than any page.
    """
    if not payloads:
        return []
    unpacking = zlib.decompressobj()
    try:
        lines = unpacking.decompress(payloads[0], LARGEST_PAGE)
    except zlib.error as error:
        raise MessageError(f"the answer to a replay request cannot be decompressed: {error}") from None
    if not unpacking.eof:
        raise MessageError(f"the answer to a replay request is cut short, or larger than {LARGEST_PAGE} bytes")
    return lines.split(b"\n") if lines else []


def _decoded(header: bytes) -> ReplayAnswer:
    try:
        answer = HEADER.decode(header)
    except INVALID_JSON:
        raise MessageError("the answer to a replay request does not fit the schema: another version?") from None
    if isinstance(answer, ReplayFailure):
        raise MessageError(answer.problem or "the hub cannot read its journal just now")
    return answer


def next_port(address: str) -> str:
    """Return the default address of the replay of the hub that publishes at `address`."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + 1}" if port.isdigit() else address


def same_host(address: str, replay: str) -> str:
    """Return the port of `replay` on the host of `address`: the hub's own name may not resolve here."""
    if is_ipc(address) or is_ipc(replay):
        return replay
    host, port = address.rpartition(":")[0], replay.rpartition(":")[2]
    return f"{host}:{port}"


def recent_events(
    address: str,
    *,
    replay: str | None = None,
    timeout_s: float = 10.0,
    key: str | Path | None = None,
    server_key: str | Path | None = None,
) -> list[Event]:
    """Return the last 200 events of the hub that publishes at `address` since it was started, oldest first.

    Later events come by `listen`.

    Args:
        address: the hub's publish.address, as in `tcp://127.0.0.1:5570`.
        replay: the hub's publish.replay; default: the hub's next status tells it, within a second.
        timeout_s: how long to wait for that status.
        key: our secret, as for `subscribe`.
        server_key: the hub's public key, as for `subscribe`.

    Raises:
        ConfigError: a key file that cannot be used.
        TimeoutError: no hub answers.
        ConnectionError: the hub closed the connection.
        MessageError: the answer cannot be read: another version of edged?
    """
    curve = curve_of(key, server_key)
    with zmq.Context() as context:
        fetching = fetch_events(context, replay or _announced(context, address, curve, timeout_s), curve)
        while True:
            try:
                next(fetching)
            except StopIteration as done:
                events: list[Event] = done.value
                return events


def _announced(context: Context, address: str, curve: Curve | None, timeout_s: float) -> str:
    """Return the address of the replay, as the hub's next status tells it. Raises TimeoutError."""
    subscription = Subscription(context, address, curve=curve)
    begun_s = time.monotonic()
    try:
        while time.monotonic() - begun_s < timeout_s:
            heard = subscription.receive(TICK_MS)
            if isinstance(heard, Status):
                return same_host(address, heard.replay)
    finally:
        subscription.close()
    raise TimeoutError(f"no status from {address} within {timeout_s:g} s")
