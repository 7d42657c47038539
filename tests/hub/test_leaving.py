"""Workers of other hosts that the config no longer has, while their last messages are under way."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from edged.hub.links.peers import Links
from edged.hub.links.received import Received
from edged.hub.links.zmq_link import ZmqLink
from edged.messages import IdleEnergy, Stop, WorkerHello, decode, encode
from tests.eventually import LIMIT_S, free_port
from tests.hub.peers import MODEL
from tests.link_ends import unix_link

PEER = "worker/far-0"
HELLO = WorkerHello(
    worker="far-0", host="far", device="any", precision="fp32", batch=1, credit=1, model=MODEL, energy="none"
)
REPORT = IdleEnergy(rails={})
REASON = "this hub's config has no worker far-0 on another host (host: …)"


class FarWorker:
    """A hub's links, and a worker of another host that has joined."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], folder: Path) -> None:
        address = f"tcp://127.0.0.1:{free_port()}"
        self.links = Links(unix_link(f"unix://{folder}/hub"), ZmqLink(context, address), frozenset({PEER}))
        self.worker = context.socket(zmq.DEALER)
        self.worker.setsockopt(zmq.IDENTITY, PEER.encode())
        self.worker.setsockopt(zmq.LINGER, 0)
        self.worker.connect(address)
        self.worker.send(encode(HELLO))
        assert self.received() is not None

    def received(self) -> Received | None:
        """Return what the hub makes of the next message."""
        assert self.links.wait(round(1000 * LIMIT_S))
        return self.links.receive()

    def answer(self) -> Stop:
        assert self.worker.poll(round(1000 * LIMIT_S))
        message = decode(self.worker.recv_multipart()[0])
        assert isinstance(message, Stop)
        return message


@pytest.fixture
def far(tmp_path: Path) -> Iterator[FarWorker]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    far = FarWorker(context, tmp_path)
    yield far
    far.links.close()
    context.destroy(linger=0)


def test_a_worker_that_leaves_is_stopped_and_not_refused(far: FarWorker, caplog: pytest.LogCaptureFixture) -> None:
    far.links.expect(frozenset())
    far.worker.send(encode(REPORT))

    assert far.received() is None
    assert far.answer().refused == REASON
    assert caplog.text == ""


def test_a_worker_that_was_removed_and_connects_again_is_refused(
    far: FarWorker, caplog: pytest.LogCaptureFixture
) -> None:
    far.links.expect(frozenset())
    far.worker.send(encode(HELLO))

    assert far.received() is None
    assert far.answer().refused == REASON
    assert f"worker far-0 is refused: {REASON}" in caplog.text


def test_a_worker_that_is_back_in_the_config_is_heard(far: FarWorker) -> None:
    far.links.expect(frozenset())
    far.links.expect(frozenset({PEER}))
    far.worker.send(encode(REPORT))

    received = far.received()
    assert received is not None
    assert received.message == REPORT
