"""Peers that mean harm, or are broken: the hub stays small, cuts them off, counts them and serves the others."""

import json
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import pairwise

import msgspec
import psutil
import pytest
import zmq

from edged import __version__
from edged.hub.links.authentication import REASONS
from edged.messages import ReplayRequest
from edged.system.paths import link_address, runtime_directory
from edged.transport.address import path_of
from tests.e2e.daemon import PATIENT, Daemon, config_in, run_edged
from tests.e2e.daemon_use import listening, rejected
from tests.e2e.zmtp import COMMAND, GREETING, MORE, connected, frame, header, is_cut, joined, ready, send_until_cut
from tests.eventually import LIMIT_MS, LIMIT_S, eventually

MIB = 1 << 20
ENDPOINTS = {"publish.address": "SUB", "publish.replay": "DEALER"}  # and who connects there
NOISE = random.Random(7).randbytes(4096)  # noqa: S311
GROWTH = 48 * MIB  # of the hub's memory, at most, whatever a peer does
SUBSCRIBER = "import signal, sys, zmq; s = zmq.Context().socket(zmq.SUB); s.subscribe(''); s.connect(sys.argv[1]); s.recv(); print(1, flush=True); signal.pause()"  # noqa: E501


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A hub without keys."""
    folder = tmp_path_factory.mktemp("hostile")
    with run_edged(folder, config=config_in(folder, freshness=PATIENT)) as daemon:
        daemon.first(1)
        yield daemon


@pytest.fixture(autouse=True)
def hub_stays_small_and_serves_the_others(daemon: Daemon) -> Iterator[None]:
    """Around each attack."""
    hub = psutil.Process(daemon.process.pid)
    before = hub.memory_info().rss
    with listening(daemon) as got:
        eventually(lambda: got)
        yield
        count = len(got)
        eventually(lambda: len(got) > count + 3)
    assert all(second == first + 1 for first, second in pairwise(got))
    assert hub.memory_info().rss - before < GROWTH


def is_rejected(daemon: Daemon, reason: str, endpoint: str, before: float) -> None:
    eventually(lambda: rejected(daemon, reason, endpoint) > before)


def all_rejected(daemon: Daemon, endpoint: str) -> float:
    """For any reason: it depends on how soon the guard looks."""
    return sum(rejected(daemon, reason, endpoint) for reason in REASONS)


def address_of(daemon: Daemon, endpoint: str) -> str:
    section, key = endpoint.split(".")
    return str(daemon.config[section][key])


def test_a_peer_with_a_hundred_thousand_topics_is_cut_off(daemon: Daemon) -> None:
    before = rejected(daemon, "too_much")
    with zmq.Context() as context, context.socket(zmq.SUB) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(daemon.address)
        for number in range(100_000):
            peer.subscribe(f"topic/{number}")
        is_rejected(daemon, "too_much", "publish.address", before)


def test_a_peer_with_topics_of_a_megabyte_is_cut_off(daemon: Daemon) -> None:
    before = all_rejected(daemon, "publish.address")
    for _ in range(20):
        with joined(daemon.address, "SUB") as peer:  # libzmq's own SUB does not survive such a topic
            send_until_cut(peer, frame(b"\1" + bytes(MIB)), 1)
            assert is_cut(peer)
    eventually(lambda: all_rejected(daemon, "publish.address") == before + 20)


def test_a_request_that_is_none_ends_the_connection(daemon: Daemon) -> None:
    before = rejected(daemon, "malformed", "publish.replay")
    with zmq.Context() as context, context.socket(zmq.DEALER) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(daemon.config["publish"]["replay"])
        peer.send(b"{")
        is_rejected(daemon, "malformed", "publish.replay", before)


OLD, WRONG = b'{"kind": "replay", "first_seq": 1}', b'{"kind": "replay_request", "limit": -1}'


@pytest.mark.parametrize("request_of", [OLD, WRONG])
def test_a_request_of_another_version_gets_an_answer_with_both(daemon: Daemon, request_of: bytes) -> None:
    with zmq.Context() as context, context.socket(zmq.DEALER) as peer:
        peer.setsockopt(zmq.LINGER, 0)
        peer.connect(daemon.config["publish"]["replay"])
        peer.send(request_of)
        assert peer.poll(LIMIT_MS)
        answer = json.loads(peer.recv())
    assert answer["kind"] == "replay_failure"
    assert f"this is edged {__version__} (protocol" in answer["problem"]


def test_peers_that_ask_for_much_and_leave_at_once_do_not_end_the_hub(daemon: Daemon) -> None:
    request = msgspec.json.encode(ReplayRequest(first_seq=0))
    for _ in range(6):
        with zmq.Context() as context, ExitStack() as peers:
            for _ in range(5):
                peer = peers.enter_context(context.socket(zmq.DEALER))
                peer.setsockopt(zmq.LINGER, 100)
                peer.setsockopt(zmq.HEARTBEAT_IVL, 50)  # of its own; libzmq has its trouble with those
                peer.connect(daemon.config["publish"]["replay"])
                for _ in range(90):
                    peer.send(request)
            time.sleep(0.2)  # so that some are answered, and some are not
    assert daemon.process.poll() is None


@pytest.mark.deep
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


@pytest.mark.deep
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_random_bytes_end_the_connection(daemon: Daemon, endpoint: str) -> None:
    before = all_rejected(daemon, endpoint)
    for start in (b"", GREETING[:10], GREETING, ready(ENDPOINTS[endpoint]) + b"\xff"):
        with connected(address_of(daemon, endpoint)) as peer:
            peer.sendall(start + NOISE)
            assert is_cut(peer)
    eventually(lambda: all_rejected(daemon, endpoint) == before + 4)


@pytest.mark.deep
def test_who_does_not_end_his_handshake_is_cut_off(daemon: Daemon) -> None:
    before = {endpoint: rejected(daemon, "silent", endpoint) for endpoint in ENDPOINTS}
    with ExitStack() as peers:
        for endpoint in ENDPOINTS:
            for start in (b"", GREETING[:1], GREETING[:10], GREETING, ready("SUB")[:-1]):
                peer = peers.enter_context(connected(address_of(daemon, endpoint)))
                peer.sendall(start)
        for endpoint in ENDPOINTS:
            eventually(lambda: rejected(daemon, "silent", endpoint) == before[endpoint] + 5)  # noqa: B023


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_message_that_is_too_large_is_not_even_begun(daemon: Daemon, endpoint: str) -> None:
    before = all_rejected(daemon, endpoint)
    for size in (1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
        with joined(address_of(daemon, endpoint), ENDPOINTS[endpoint]) as peer:
            peer.sendall(header(size))
            assert is_cut(peer)
    eventually(lambda: all_rejected(daemon, endpoint) == before + 4)


@pytest.mark.deep
@pytest.mark.parametrize("endpoint", ["publish.address", "publish.replay"])
@pytest.mark.parametrize("part", [frame(bytes(1000), MORE), frame(b"\x04PING\0\0" + bytes(16), COMMAND)])
def test_parts_and_commands_without_end_are_cut_off(daemon: Daemon, endpoint: str, part: bytes) -> None:
    before = all_rejected(daemon, endpoint)
    with joined(address_of(daemon, endpoint), ENDPOINTS[endpoint]) as peer:
        assert send_until_cut(peer, part * 1000, 1000) < 1000
        eventually(lambda: all_rejected(daemon, endpoint) == before + 1)


def private_link(daemon: Daemon) -> socket.socket:
    """A plain connection to the hub's private link."""
    address = link_address(runtime_directory(daemon.folder / "edged/test/journal.sqlite"))
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    peer.settimeout(LIMIT_S)
    peer.connect(str(path_of(address)))
    return peer


def message(*parts: bytes) -> bytes:
    """As the link packs it."""
    return struct.pack(f"={1 + len(parts)}I", len(parts), *map(len, parts)) + b"".join(parts)


NAME = message(b"camera/stranger")


@pytest.mark.parametrize(
    "packets",
    [
        [NOISE],
        [b"\0"],
        [message(b"camera/stranger", b"and more")],
        [message(b"")],
        [NAME, NOISE],
        [NAME, struct.pack("=II", 1, (1 << 31) - 1)],
        [NAME, struct.pack("=II", 1, 0) + b"x"],
        [NAME, message(b"{")],
        [NAME, message(b"", NOISE)],
        [NAME, message(b'{"kind":"stop"}' * 1000, b"x")],
        [NAME, message(*[b"x"] * 1000)],
    ],
)
def test_what_is_no_message_of_a_child_ends_the_connection(daemon: Daemon, packets: list[bytes]) -> None:
    before = rejected(daemon, "malformed", "link")
    with private_link(daemon) as peer:
        for packet in packets:
            peer.send(packet)
        is_rejected(daemon, "malformed", "link", before)
        assert is_cut(peer)


def test_a_child_that_sends_half_a_message_and_no_more_takes_nothing_from_others(daemon: Daemon) -> None:
    with private_link(daemon) as peer:
        peer.send(NAME)
        peer.send(struct.pack("=II", 1, 1 << 30))  # and none of it
        with listening(daemon) as got:
            eventually(lambda: len(got) > 10)


@pytest.mark.deep
def test_who_gives_no_name_on_the_private_link_is_cut_off(daemon: Daemon) -> None:
    before = rejected(daemon, "silent", "link")
    with private_link(daemon) as peer:
        is_rejected(daemon, "silent", "link", before)
        assert is_cut(peer)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (NOISE + b"\n", "malformed"),
        (b"BREW / HTTP/1.1\r\n\r\n", "malformed"),
        (b"GET /" + b"a" * MIB, "too_much"),
        (b"GET / HTTP/1.1\r\n" + b"X-More: %a\r\n" % ("a" * 1000) * 50, "too_much"),
    ],
    ids=["noise", "method", "line", "headers"],
)
def test_what_is_no_scrape_ends_the_connection(daemon: Daemon, request_: bytes, reason: str) -> None:
    before = rejected(daemon, reason, "metrics.address")
    with connected(address_of(daemon, "metrics.address")) as peer:
        send_until_cut(peer, request_, 1)
        assert is_cut(peer)
    is_rejected(daemon, reason, "metrics.address", before)


@pytest.mark.deep
def test_scrapes_without_end_take_no_threads_for_ever_and_none_from_others(daemon: Daemon) -> None:
    threads = psutil.Process(daemon.process.pid).num_threads
    before, at_first = (
        threads(),
        {each: rejected(daemon, each, "metrics.address") for each in ("too_many", "slow")},
    )
    with ExitStack() as peers:
        for _ in range(200):
            peers.enter_context(connected(address_of(daemon, "metrics.address")))
        is_rejected(daemon, "too_many", "metrics.address", at_first["too_many"] + 160)
        assert threads() <= before + 40
        peer = peers.enter_context(connected(address_of(daemon, "metrics.address")))
        with suppress(OSError):
            while rejected(daemon, "slow", "metrics.address") == at_first["slow"]:  # each of these is answered
                peer.sendall(b"G")
        is_rejected(daemon, "slow", "metrics.address", at_first["slow"] + 20)
    eventually(lambda: threads() <= before + 1)
