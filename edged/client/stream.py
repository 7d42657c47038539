"""The live stream of a hub, made whole: each prediction exactly once and in order."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

import zmq
from pydantic import ValidationError

from edged.address import is_ipc
from edged.client.handshake import Handshakes
from edged.client.replay import fetch
from edged.client.sequence import Sequence
from edged.client.sockets import Context, Curve, unconnected
from edged.clock import wall_s
from edged.errors import MessageError
from edged.messages import Prediction, ReplayRequest, Status, prediction_from_json

log = logging.getLogger("edged.client")

QUEUED = 1000  # messages that may wait for us; what is lost beyond is fetched
TICK_MS = 100
REFUSED_S = 1.0  # from one attempt to the next, where the hub refuses us


@dataclass(frozen=True, slots=True)
class Arrival:
    """A prediction, and the JSON that it came as."""

    prediction: Prediction
    json: bytes


class Stream:
    """Subscribes to every prediction of a hub: the numbers count all cameras together, so a gap shows only there.

    ZeroMQ's PUB drops what a slow subscriber does not take; this class sees the gap in the numbers, in the next
    prediction or in the status of each second, and fetches it from the journal.
    """

    def __init__(
        self,
        context: Context,
        address: str,
        *,
        replay: str | None = None,
        node: str | None = None,
        since_s: float | None = None,
        curve: Curve | None = None,
    ) -> None:
        """`address`: of the stream. `replay`: where to fetch; default: what the hub says, or the next port.

        `since_s`: begin with what was published so many seconds ago. `curve`: our keys, where there are any.
        """
        self.replay = replay or _next_port(address)
        self._learn_replay = replay is None
        self._context = context
        self._address = address
        self._since = None if since_s is None else wall_s() - since_s
        self._nodes: dict[str, Sequence] = {}
        self._curve = curve
        self._topic = f"edged/{node}/" if node else "edged/"
        self._refusal = self._told = ""
        self._connect()

    def close(self) -> None:
        """Disconnect."""
        self._handshakes.close()
        self._socket.close()

    def _connect(self) -> None:
        self._connected_s = time.monotonic()
        self._socket = unconnected(self._context, zmq.SUB, self._address, QUEUED, self._curve)
        self._handshakes = Handshakes(self._context, self._socket, self._curve)
        self._socket.subscribe(self._topic)
        self._socket.connect(self._address)

    def _connect_again_if_refused(self) -> None:
        """Whoever is refused may be let in later; why is told once."""
        self._refusal = self._handshakes.failure() or self._refusal
        if not self._refusal or time.monotonic() - self._connected_s < REFUSED_S:
            return
        if self._refusal != self._told:
            log.warning("%s: %s", self._address, self._refusal)
        self._told, self._refusal = self._refusal, ""
        self.close()
        self._connect()

    def arrivals(self) -> Iterator[Arrival | None]:
        """Predictions for ever; None now and then while there are none, so that the caller can look at the clock.

        Raises MessageError for what no edged of this schema has sent.
        """
        while True:
            if not self._socket.poll(TICK_MS):
                self._connect_again_if_refused()
                yield None
                continue
            topic, json = self._received()
            match topic.rpartition(b"/")[2]:
                case b"prediction":
                    yield from self._prediction(Arrival(prediction_from_json(json), json))
                case b"status":
                    yield from self._status(_status_from(json))

    def _received(self) -> tuple[bytes, bytes]:
        parts = self._socket.recv_multipart()
        if len(parts) != 2:
            raise MessageError(
                f"{self._address} sends {len(parts)} parts in place of topic and JSON: is it edged?"
            )
        return parts[0], parts[1]

    def _prediction(self, arrival: Arrival) -> Iterator[Arrival]:
        prediction = arrival.prediction
        sequence = self._nodes.setdefault(prediction.node, Sequence())
        if (sequence.last is None and self._since is not None) or not sequence.knows(prediction.boot):
            return  # the next status begins, and fetches this one too
        yield from self._fill(prediction.node, prediction.seq - 1)
        if sequence.is_new(prediction.seq):
            sequence.last = prediction.seq
            yield arrival

    def _status(self, status: Status) -> Iterator[Arrival]:
        if self._learn_replay:
            self.replay = _same_host(self._address, status.replay)
        sequence = self._nodes.setdefault(status.node, Sequence())
        sequence.begin(status.boot, status.first_seq)
        if sequence.last is None:
            yield from self._begin(status, sequence)
        yield from self._fill(status.node, status.last_seq)

    def _begin(self, status: Status, sequence: Sequence) -> Iterator[Arrival]:
        if self._since is None:
            sequence.last = status.last_seq
            return
        sequence.last = -1
        yield from self._fetch(sequence, ReplayRequest(since=self._since, last_seq=max(0, status.last_seq)))
        sequence.last = max(sequence.last, status.last_seq)

    def _fill(self, node: str, newest: int) -> Iterator[Arrival]:
        """Fetch what is missing up to `newest`; what cannot be had is lost, and told."""
        sequence = self._nodes[node]
        missing = sequence.missing(newest)
        if missing is None:
            return
        first, last = missing
        found = 0
        for arrival in self._fetch(sequence, ReplayRequest(first_seq=first, last_seq=last)):
            found += 1
            yield arrival
        if lost := last - first + 1 - found:
            log.warning(
                "%d predictions of %s (of %d to %d) are lost: its journal has them not", lost, node, first, last
            )
        sequence.last = last

    def _fetch(self, sequence: Sequence, request: ReplayRequest) -> Iterator[Arrival]:
        try:
            for json in fetch(self._context, self.replay, request, self._curve):
                prediction = prediction_from_json(json)
                if sequence.is_new(prediction.seq):
                    sequence.last = prediction.seq
                    yield Arrival(prediction, json)
        except TimeoutError as error:
            log.warning("what was missed cannot be fetched: %s", error)


def _status_from(json: bytes) -> Status:
    try:
        return Status.model_validate_json(json)
    except ValidationError:
        raise MessageError("a status that does not fit the schema: another version of edged?") from None


def _next_port(address: str) -> str:
    """Where a hub answers replay requests unless it is told otherwise."""
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + 1}" if port.isdigit() else address


def _same_host(address: str, replay: str) -> str:
    """The port of `replay` on the host of `address`: a hub may know itself by a name that is of no use to us."""
    if is_ipc(address) or is_ipc(replay):
        return replay
    host, port = address.rpartition(":")[0], replay.rpartition(":")[2]
    return f"{host}:{port}"
