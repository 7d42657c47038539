"""Replay requests and answers that no honest peer sends."""

import json
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import get_args

import msgspec
import pytest
import zmq

from edged.client.replay import LARGEST_PAGE
from edged.errors import MessageError
from edged.hub.publish.replay import page_bytes
from edged.messages import ReplayAnswer, ReplayRequest, to_json
from edged.messages.replay import Format
from edged.transport.client_socket import Context, connect
from tests.client.hub_end import Addresses, a_hub, fetch
from tests.e2e.zmtp import frame, joined
from tests.eventually import LIMIT_MS, TURN_MS, eventually, free_port
from tests.messages.examples import PREDICTION

PEERS_THAT_LEAVE = 30
SUBSCRIBERS = 30
ABSURD = (b'{"first_seq": 9223372036854775808}', b'{"last_seq": 1e30}', b'{"first_seq": -1}', b"", b"\xff", b"[]")


def test_a_request_with_absurd_numbers_is_not_answered_and_the_next_one_is(tmp_path: Path) -> None:
    where = Addresses()
    with Context() as context, a_hub(tmp_path, where) as hub:
        hub.publish(3)
        socket = connect(context, zmq.DEALER, where.replay, queued=10)
        for request in (*ABSURD, b'{"first_seq": 9223372036854775807}'):
            socket.send(request)
        eventually(lambda: hub.serve() and bool(socket.poll(TURN_MS)))
        header, *predictions = socket.recv_multipart()
        socket.close()
    assert b'"first_kept":0' in header
    assert predictions == []


def test_peers_that_leave_before_their_answer_end_the_service_for_nobody(tmp_path: Path) -> None:
    where = Addresses()
    request = msgspec.json.encode(ReplayRequest(first_seq=0))
    with Context() as context, a_hub(tmp_path, where) as hub:
        hub.publish(1000)
        for _ in range(PEERS_THAT_LEAVE):
            with Context() as theirs:
                peer = connect(theirs, zmq.DEALER, where.replay, queued=10)
                for _ in range(20):
                    peer.send(request)
                assert peer.poll(LIMIT_MS)  # the first answer has come, the others are under way
                peer.close()
        fetched = [each.prediction.seq for each in fetch(context, where.replay, ReplayRequest()) if each]
        assert hub.services.failed == []
    assert fetched == list(range(1000))


def test_many_subscribers_at_once_fetch_all_of_a_journal(tmp_path: Path) -> None:
    where = Addresses()
    with a_hub(tmp_path, where) as hub, Context() as context:
        hub.publish(500)

        def fetched(_: int) -> list[int]:
            return [each.prediction.seq for each in fetch(context, where.replay, ReplayRequest()) if each]

        with ThreadPoolExecutor(SUBSCRIBERS) as subscribers:
            for numbers in subscribers.map(fetched, range(SUBSCRIBERS)):
                assert numbers == list(range(500))


@pytest.mark.deep
def test_who_never_reads_takes_little_memory_and_nothing_from_others(tmp_path: Path) -> None:
    where = Addresses()
    with Context() as context, ExitStack() as silent, a_hub(tmp_path, where) as hub:
        hub.publish(4000)
        before = hub.answered
        for _ in range(SUBSCRIBERS):
            peer = silent.enter_context(joined(where.replay, "DEALER"))
            peer.sendall(frame(b"{}") * 20)
        eventually(lambda: hub.answered >= before + SUBSCRIBERS)
        fetched = [each.prediction.seq for each in fetch(context, where.replay, ReplayRequest()) if each]
    assert fetched == list(range(4000))


def test_the_more_subscribers_fetch_the_smaller_are_their_pages() -> None:
    assert page_bytes(1, "lines") == page_bytes(1, "zlib") == 1 << 20
    assert page_bytes(500, "lines") == 1 << 16
    assert page_bytes(500, "zlib") == 1 << 18
    assert all(peers * page_bytes(peers, "lines") <= 1 << 25 for peers in range(1, 1001))


def test_a_hub_that_closes_the_connection_is_an_error_at_once() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    with zmq.Context() as context, context.socket(zmq.ROUTER) as server:
        server.bind(address)

        def cut_off() -> None:
            server.recv_multipart()
            server.unbind(address)
            server.close(linger=0)

        cut = threading.Thread(target=cut_off)
        cut.start()
        with pytest.raises(ConnectionError, match="has closed the connection"):
            list(fetch(context, address, ReplayRequest()))
        cut.join()


def test_a_journal_that_cannot_be_read_is_an_error_at_once_and_the_next_file_answers(tmp_path: Path) -> None:
    where, path = Addresses(), tmp_path / "journal.sqlite"
    with Context() as context, a_hub(tmp_path, where) as hub:
        hub.publish(3)
        for file in (path, path.with_name("journal.sqlite-wal")):
            file.write_bytes(b"\xff" * file.stat().st_size)

        with pytest.raises(MessageError, match="cannot read its journal"):
            list(fetch(context, where.replay, ReplayRequest()))
        eventually(lambda: list(tmp_path.glob("journal.sqlite.damaged-*")))
        eventually(lambda: _fetched(context, where.replay) == [])


def test_a_server_that_gives_the_same_again_and_again_is_left() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    answer = msgspec.json.encode(ReplayAnswer(predictions=1, first_kept=0, last_kept=99, next_seq=0))
    with zmq.Context() as context, context.socket(zmq.ROUTER) as server:
        server.bind(address)
        answers = threading.Thread(
            target=_answer_always, args=(server, [answer, zlib.compress(to_json(PREDICTION))], 1)
        )
        answers.start()
        pages = fetch(context, address, ReplayRequest())

        with pytest.raises(MessageError, match="continues at 0"):
            list(pages)
        answers.join()


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"not compressed", "cannot be decompressed"),
        (zlib.compress(to_json(PREDICTION))[:-1], "cut short"),
        (zlib.compress(bytes(LARGEST_PAGE + 1)), "larger than"),
    ],
)
def test_an_answer_that_cannot_be_unpacked_is_an_error(payload: bytes, complaint: str) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    answer = msgspec.json.encode(ReplayAnswer(predictions=1, first_kept=0, last_kept=99, next_seq=1))
    with zmq.Context() as context, context.socket(zmq.ROUTER) as server:
        server.bind(address)
        answers = threading.Thread(target=_answer_always, args=(server, [answer, payload], 1))
        answers.start()
        with pytest.raises(MessageError, match=complaint):
            list(fetch(context, address, ReplayRequest()))
        answers.join()


@pytest.mark.parametrize("format_", get_args(Format))
def test_a_page_holds_the_same_in_each_format(tmp_path: Path, format_: Format) -> None:
    where = Addresses()
    with Context() as context, a_hub(tmp_path, where) as hub:
        hub.publish(3)
        peer = connect(context, zmq.DEALER, where.replay, queued=10)
        peer.send(msgspec.json.encode(ReplayRequest(format=format_)))
        assert peer.poll(LIMIT_MS)
        _, *payloads = peer.recv_multipart()
        peer.close()
    unpacked = [zlib.decompress(each) if format_ == "zlib" else each for each in payloads]
    rows = [json.loads(line) for each in unpacked for line in each.splitlines()]
    assert [row["seq"] for row in rows] == [0, 1, 2]
    assert len(payloads) == (3 if format_ == "payloads" else 1)


def _fetched(context: Context, address: str) -> list[int] | None:
    """Numbers; None where the journal cannot be read."""
    with suppress(MessageError):
        return [each.prediction.seq for each in fetch(context, address, ReplayRequest()) if each]
    return None


def _answer_always(server: zmq.Socket[bytes], answer: list[bytes], times: int) -> None:
    for _ in range(times):
        peer, *_ = server.recv_multipart()
        server.send_multipart([peer, *answer])
