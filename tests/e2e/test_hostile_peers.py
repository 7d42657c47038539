"""Peers that mean harm, or are broken: the hub stays small, cuts them off, counts them and serves the others."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import psutil
import pytest
import zmq

from tests.e2e.daemon import START_S, Daemon, run_edged
from tests.e2e.test_access import listening, rejected
from tests.eventually import eventually

MIB = 1 << 20
GROWTH = 48 * MIB  # of the hub's memory, at most, whatever a peer does
SUBSCRIBER = "import sys, zmq; s = zmq.Context().socket(zmq.SUB); s.subscribe(''); s.connect(sys.argv[1]); s.recv(); print(1, flush=True); s.poll()"  # noqa: E501


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A hub without keys."""
    with run_edged(tmp_path_factory.mktemp("hostile")) as daemon:
        daemon.first(1)
        yield daemon


@pytest.fixture(autouse=True)
def hub_stays_small_and_serves_the_others(daemon: Daemon) -> Iterator[None]:
    """Around each attack."""
    hub = psutil.Process(daemon.process.pid)
    before = hub.memory_info().rss
    with listening(daemon) as got:
        eventually(lambda: got, START_S)
        yield
        count = len(got)
        eventually(lambda: len(got) > count + 10, START_S)
    assert all(second == first + 1 for first, second in pairwise(got))
    assert hub.memory_info().rss - before < GROWTH


def is_rejected(daemon: Daemon, reason: str, endpoint: str, before: float) -> None:
    eventually(lambda: rejected(daemon, reason, endpoint) > before, START_S)


def test_a_peer_with_a_hundred_thousand_topics_is_cut_off(daemon: Daemon) -> None:
    before = rejected(daemon, "too_much")
    with zmq.Context() as context, context.socket(zmq.SUB) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(daemon.address)
        for number in range(100_000):
            peer.subscribe(f"topic/{number}")
        is_rejected(daemon, "too_much", "publish.address", before)


def test_a_request_that_is_none_ends_the_connection(daemon: Daemon) -> None:
    before = rejected(daemon, "malformed", "publish.replay")
    with zmq.Context() as context, context.socket(zmq.DEALER) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(daemon.config["publish"]["replay"])
        peer.send(b"{")
        is_rejected(daemon, "malformed", "publish.replay", before)


def test_a_subscriber_that_stops_reading_is_cut_off(daemon: Daemon) -> None:
    before = rejected(daemon, "stalled")
    command = [sys.executable, "-c", SUBSCRIBER, daemon.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as peer:
        assert peer.stdout
        peer.stdout.readline()
        peer.send_signal(signal.SIGSTOP)
        try:
            is_rejected(daemon, "stalled", "publish.address", before)
        finally:
            peer.kill()
