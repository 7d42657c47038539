"""The hub with a worker of another host that does as it is told."""

import threading
import time
from functools import partial
from pathlib import Path

import zmq

from edged.messages import HelloRequest, Job, WorkerHello, decode, encode
from tests.eventually import LIMIT_S, TURN_MS, free_port, in_background
from tests.hub.peers import MODEL, good
from tests.hub.running import Run

HELLO = encode(
    WorkerHello(
        worker="far-0", host="far", device="any", precision="fp32", batch=1, credit=1, model=MODEL, energy="none"
    )
)


def misses_one_deadline(port: int, stopped: threading.Event) -> None:
    """Its link was away for just so long: it says hello again before the hub has told of its loss."""
    misses = True
    with zmq.Context() as context, context.socket(zmq.DEALER) as hub:
        hub.setsockopt(zmq.IDENTITY, b"worker/far-0")
        hub.setsockopt(zmq.LINGER, 0)
        hub.connect(f"tcp://127.0.0.1:{port}")
        hub.send(HELLO)
        while not stopped.is_set():
            message = decode(hub.recv_multipart()[0]) if hub.poll(TURN_MS) else None
            if isinstance(message, Job) and misses:
                time.sleep(message.timeout_s + 0.02)
                misses = False
                hub.send(HELLO)
            elif isinstance(message, Job):
                hub.send(encode(good(message)))
            elif isinstance(message, HelloRequest):
                hub.send(HELLO)


def test_a_worker_that_is_back_before_its_loss_is_reported_serves_on(tmp_path: Path) -> None:
    port = free_port()
    run = Run(
        tmp_path,
        ["steady"],
        [],
        workers=[{"device": "any", "host": "far"}],
        link={"address": f"tcp://127.0.0.1:{port}"},
        freshness={"deadline_s": 0.2},
    )
    with in_background(partial(misses_one_deadline, port)):
        assert run.until(predictions=150, seconds=LIMIT_S)["predictions"] == 150
