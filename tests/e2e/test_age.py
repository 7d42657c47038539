"""How old predictions are when they arrive, and what they say of it."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import zmq

from tests.e2e.daemon import MAX_AGE_S, STAMP_S, Daemon, conserves, run_edged
from tests.e2e.daemon_use import rejected
from tests.e2e.lateness import Lateness
from tests.e2e.zmtp import frame, joined
from tests.eventually import TURN_MS, eventually, in_background

STOPPED_S = 4.0  # longer than a camera may be silent
FLOODING, TOPICS = 60, 1600  # of two bytes each, within what a subscriber may send at once


@dataclass
class Heard:
    """A message of the stream."""

    topic: bytes
    fields: dict[str, object]


@contextmanager
def heard_from(daemon: Daemon) -> Iterator[list[Heard]]:
    heard: list[Heard] = []

    def listen(stopped: threading.Event) -> None:
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.subscribe("edged/")
            socket.connect(daemon.address)
            while not stopped.is_set():
                if socket.poll(TURN_MS):
                    topic, message = socket.recv_multipart()
                    heard.append(Heard(topic, json.loads(message)))

    with in_background(listen):
        eventually(lambda: heard)
        yield heard


def predictions(heard: list[Heard]) -> list[dict[str, object]]:
    return [each.fields for each in heard if each.topic.endswith(b"/prediction")]


def age_s(prediction: dict[str, object]) -> float:
    """By what the hub says itself, and not by when we heard of it."""
    return float(str(prediction["published_at"])) - float(str(prediction["captured_at"]))


@pytest.mark.promise("no prediction is older than 0.5 s when it is published")
def test_after_the_hub_stood_still_nothing_too_old_goes_out_and_no_camera_is_called_down(tmp_path: Path) -> None:
    lateness = Lateness()
    with run_edged(tmp_path) as daemon, heard_from(daemon) as heard:
        eventually(lambda: len(predictions(heard)) > 20)
        lateness.start()
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)
        daemon.process.send_signal(signal.SIGCONT)
        before = len(predictions(heard))
        eventually(lambda: len(predictions(heard)) > before + 30)
        assert max(map(age_s, predictions(heard))) <= MAX_AGE_S + STAMP_S + lateness.stop()
        events = [each.fields["event"] for each in heard if each.topic.endswith(b"/event")]
        assert "camera_down" not in events
        assert "worker_lost" not in events
        assert "the hub paused for" in daemon.log()
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_subscribers_with_topics_by_the_thousand_hold_up_no_frame_in_the_hub(tmp_path: Path) -> None:
    topics = b"".join(frame(b"\1" + number.to_bytes(2, "big")) for number in range(TOPICS))
    with run_edged(tmp_path) as daemon, heard_from(daemon) as heard:
        eventually(lambda: len(predictions(heard)) > 20)
        peers = [joined(daemon.address, "SUB") for _ in range(FLOODING)]
        for peer in peers:
            peer.sendall(topics)
        eventually(lambda: rejected(daemon, "too_much") > 0)  # they are too many together
        before = len(predictions(heard))
        eventually(lambda: len(predictions(heard)) > before + 30)
        for peer in peers:
            peer.close()
        before = len(predictions(heard))
        eventually(lambda: len(predictions(heard)) > before + 30)
        events = [each.fields["event"] for each in heard if each.topic.endswith(b"/event")]
        assert "camera_down" not in events
        assert conserves(daemon.stop())
