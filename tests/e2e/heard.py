"""A subscriber that notes when it received each message, and crowds beside it."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import zmq

from tests.e2e.daemon import Daemon
from tests.eventually import TURN_MS, eventually, in_background


@dataclass
class Heard:
    """A message of the stream. `at_s`: when it was received."""

    topic: bytes
    fields: dict[str, object]
    at_s: float


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
                    heard.append(Heard(topic, json.loads(message), time.monotonic()))

    with in_background(listen):
        eventually(lambda: heard)
        yield heard


def predictions(heard: list[Heard]) -> list[dict[str, object]]:
    return [each.fields for each in heard if each.topic.endswith(b"/prediction")]


def longest_gap_s(heard: list[Heard]) -> float:
    """Return the longest time without a prediction."""
    at_s = [each.at_s for each in heard if each.topic.endswith(b"/prediction")]
    return max(after - earlier for earlier, after in pairwise(at_s))


@contextmanager
def flooded(daemon: Daemon, kind: str, crowd: int) -> Iterator[None]:
    """So many subscribers with many topics each, which connect again when they are disconnected."""
    hub = json.dumps({"publish": daemon.address, "key": None, "server_key": None})
    command = [sys.executable, "-m", "trials.soak.crowd", kind, str(crowd), hub]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as peers:
        assert peers.stdin
        assert peers.stdout
        assert "ready" in peers.stdout.readline()
        yield
        peers.kill()
