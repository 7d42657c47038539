"""Replay requests and answers that no honest peer sends."""

from pathlib import Path

import zmq

from edged.client.sockets import Context, connect
from tests.client.hub_end import Addresses, a_hub
from tests.eventually import eventually

ABSURD = (b'{"first_seq": 9223372036854775808}', b'{"last_seq": 1e30}', b'{"first_seq": -1}', b"", b"\xff", b"[]")


def test_a_request_with_absurd_numbers_is_not_answered_and_the_next_one_is(tmp_path: Path) -> None:
    where = Addresses()
    with Context() as context, a_hub(tmp_path, where) as hub:
        hub.publish(3)
        socket = connect(context, zmq.DEALER, where.replay, queued=10)
        for request in (*ABSURD, b'{"first_seq": 9223372036854775807}'):
            socket.send(request)
        eventually(lambda: hub.serve() and bool(socket.poll(10)))
        header, *predictions = socket.recv_multipart()
        socket.close()
    assert b'"first_kept":0' in header
    assert predictions == []
