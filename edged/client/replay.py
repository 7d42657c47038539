"""Fetches what was missed from a node's journal."""

from collections.abc import Iterator

import zmq
from pydantic import ValidationError

from edged.client.sockets import Context, Curve, connect
from edged.errors import MessageError
from edged.messages import ReplayAnswer, ReplayRequest, prediction_from_json

ANSWER_MS = 2000
TRIES = 3


def fetch(context: Context, address: str, request: ReplayRequest, curve: Curve | None = None) -> Iterator[bytes]:
    """The JSON of every prediction that `request` asks for and the journal holds, in order, page by page.

    Raises TimeoutError where nobody answers at `address`, MessageError for an answer that is none.
    """
    more = True
    while more:
        answer, predictions = _ask(context, address, request, curve)
        yield from predictions
        more = answer.more and bool(predictions)
        if more:
            request = request.model_copy(update={"first_seq": _next_seq(request, predictions)})


def _next_seq(request: ReplayRequest, predictions: list[bytes]) -> int:
    """Raises MessageError where numbers do not grow: one would ask for ever."""
    last = prediction_from_json(predictions[-1]).seq
    if last < (request.first_seq or 0):
        raise MessageError(f"the answer to a replay request from {request.first_seq} ends at {last}")
    return last + 1


def _ask(
    context: Context, address: str, request: ReplayRequest, curve: Curve | None
) -> tuple[ReplayAnswer, list[bytes]]:
    for _ in range(TRIES):
        # a socket for each try, so that a late answer is never taken for that of the next request
        socket = connect(context, zmq.DEALER, address, queued=10, curve=curve)
        try:
            socket.send(request.model_dump_json().encode())
            if socket.poll(ANSWER_MS):
                header, *predictions = socket.recv_multipart()
                return _decoded(header), predictions
        finally:
            socket.close()
    raise TimeoutError(f"{address} does not answer replay requests")


def _decoded(header: bytes) -> ReplayAnswer:
    try:
        return ReplayAnswer.model_validate_json(header)
    except ValidationError:
        raise MessageError("the answer to a replay request does not fit the schema: another version?") from None
