"""Replay requests and answers that no honest peer sends."""

import threading
from pathlib import Path

import pytest
import zmq

from edged.client.replay import fetch
from edged.connect import Context, connect
from edged.errors import MessageError
from edged.messages import ReplayAnswer, ReplayRequest, to_json
from tests.client.hub_end import Addresses, a_hub
from tests.eventually import eventually, free_port
from tests.test_messages import PREDICTION

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


def test_a_server_that_gives_the_same_again_and_again_is_left() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    answer = ReplayAnswer(predictions=1, first_kept=0, last_kept=99, more=True).model_dump_json().encode()
    with zmq.Context() as context, context.socket(zmq.ROUTER) as server:
        server.bind(address)
        answers = threading.Thread(target=_answer_always, args=(server, [answer, to_json(PREDICTION)], 2))
        answers.start()
        pages = fetch(context, address, ReplayRequest())

        with pytest.raises(MessageError, match="from 13 ends at 12"):
            list(pages)
        answers.join()


def _answer_always(server: zmq.Socket[bytes], answer: list[bytes], times: int) -> None:
    for _ in range(times):
        peer, *_ = server.recv_multipart()
        server.send_multipart([peer, *answer])
