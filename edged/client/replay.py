"""Fetches what was missed from a node's journal."""

from collections.abc import Iterator
from contextlib import suppress

import zmq
from pydantic import ValidationError

from edged.address import is_ipc
from edged.client.received import Arrival
from edged.connect import Context, Curve, connect
from edged.errors import MessageError
from edged.messages import ReplayAnswer, ReplayRequest, prediction_from_json

ANSWER_MS = 2000


def fetch(context: Context, address: str, request: ReplayRequest, curve: Curve | None = None) -> Iterator[Arrival]:
    """Every prediction that `request` asks for and the journal holds, in order, page by page.

    Raises TimeoutError where nobody answers at `address`, MessageError for an answer that is none.
    """
    more = True
    while more:
        answer, payloads = _ask(context, address, request, curve)
        arrivals = [*_readable(payloads)]
        yield from arrivals
        more = answer.more and bool(arrivals)
        if more:
            request = request.model_copy(update={"first_seq": _next_seq(request, arrivals[-1])})


def _readable(payloads: list[bytes]) -> Iterator[Arrival]:
    """The others are of another version: they count as lost."""
    for json in payloads:
        with suppress(MessageError):
            yield Arrival(prediction_from_json(json), json)


def _next_seq(request: ReplayRequest, arrival: Arrival) -> int:
    """Raises MessageError where numbers do not grow: one would ask for ever."""
    last = arrival.prediction.seq
    if last < (request.first_seq or 0):
        raise MessageError(f"the answer to a replay request from {request.first_seq} ends at {last}")
    return last + 1


def _ask(
    context: Context, address: str, request: ReplayRequest, curve: Curve | None
) -> tuple[ReplayAnswer, list[bytes]]:
    # a socket for each request, so that a late answer is never taken for that of the next one
    socket = connect(context, zmq.DEALER, address, queued=10, curve=curve)
    try:
        socket.send(request.model_dump_json().encode())
        if not socket.poll(ANSWER_MS):
            raise TimeoutError(f"{address} does not answer replay requests")
        header, *predictions = socket.recv_multipart()
        return _decoded(header), predictions
    finally:
        socket.close()


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
