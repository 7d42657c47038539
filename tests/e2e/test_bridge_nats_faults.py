"""What a fleet's stream holds after many faults: each prediction of the journal once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.bridge.fleet import (
    Bridge,
    BusyHub,
    Stream,
    a_busy_hub,
    acknowledged,
    bridge,
    carries_on,
    config_file,
    delivered_once,
    is_there_once,
)
from tests.client.hub_end import Addresses
from tests.disks import a_small_disk, fill
from tests.e2e.hosts import Host, hosts, inside
from tests.e2e.injected_faults import HOUR_S, WallClock
from tests.eventually import eventually, free_port
from tests.nats_server import NatsServer, has_nats_server, nats_server

pytestmark = pytest.mark.deep
KILLS = 20
DUPLICATES_S = 60  # the least that the bridge accepts; cuts are shorter and longer than this


@pytest.fixture
def port() -> int:
    has_nats_server()
    return free_port()


def test_a_server_killed_many_times(tmp_path: Path, port: int) -> None:
    where = Addresses()
    config = config_file(tmp_path, where, port)
    with nats_server(tmp_path, port) as server, a_busy_hub(tmp_path, where) as busy, bridge(config) as carrying:
        for _ in range(KILLS):
            carries_on(carrying)
            server.kill()
            server.start()
        carries_on(carrying)
        busy.quiet()
        report("server killed 20 times", delivered_once(tmp_path, carrying, Stream(port)))


def test_a_bridge_killed_many_times(tmp_path: Path, port: int) -> None:
    where = Addresses()
    config = config_file(tmp_path, where, port)
    with nats_server(tmp_path, port), a_busy_hub(tmp_path, where) as busy, bridge(config) as carrying:
        for _ in range(KILLS):
            carries_on(carrying)
            carrying.stop(signal.SIGKILL)
            carrying.start()
        carries_on(carrying)
        busy.quiet()
        report("bridge killed 20 times", delivered_once(tmp_path, carrying, Stream(port)))


def test_a_server_whose_disk_is_full(tmp_path: Path, port: int) -> None:
    where = Addresses()
    config = config_file(tmp_path, where, port, max_megabytes=16)
    with (
        a_small_disk(tmp_path / "disk", "24m") as disk,
        nats_server(tmp_path, port, store=disk) as server,
        a_busy_hub(tmp_path, where) as busy,
        bridge(config) as carrying,
    ):
        carries_on(carrying)
        ballast = fill(disk)
        eventually(lambda: carrying.reports("no acknowledgement within"))
        ballast.unlink()
        server.kill()  # as an operator would after making room
        server.start()
        carries_on(carrying)
        busy.quiet()
        report("disk of the server full", delivered_once(tmp_path, carrying, Stream(port)))


def test_a_wall_clock_that_is_weeks_behind_and_jumps(
    tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the bridge alone: server and hub have another, as boards without a battery do."""
    where = Addresses()
    config = config_file(tmp_path, where, port)
    clock = WallClock(tmp_path)
    clock.jump(-1000 * HOUR_S)
    with nats_server(tmp_path, port), a_busy_hub(tmp_path, where) as busy:
        for name, value in clock.environment.items():
            monkeypatch.setenv(name, value)
        with bridge(config) as carrying:
            for offset_h in (-1000, 100, -1, 0):
                clock.jump(offset_h * HOUR_S)
                carries_on(carrying)
            carrying.stop(signal.SIGKILL)
            carrying.start()
            carries_on(carrying)
            monkeypatch.delenv("LD_PRELOAD")
            busy.quiet()
            report(
                "clock of the bridge six weeks behind, then jumping",
                delivered_once(tmp_path, carrying, Stream(port)),
            )


@pytest.mark.parametrize("away_s", [2, 15, 120])
def test_a_link_that_is_cut(tmp_path: Path, port: int, away_s: int) -> None:
    """120 s are twice the window in which the server knows duplicates."""
    with hosts("board", "fleet") as (board, fleet):
        where = ipc_in(tmp_path)
        config = config_file(tmp_path, where, port, servers=[f"nats://{fleet.address}:{port}"], insecure=True)
        with (
            server_on(fleet, tmp_path, port) as server,
            a_busy_hub(tmp_path, where) as busy,
            bridge(config, inside(board.namespace)) as carrying,
        ):
            carries_on(carrying)
            with board.cut_off():
                first = busy.hub.next_seq
                eventually(lambda: busy.hub.next_seq > first + away_s * busy.rate, away_s + 60.0)
            carries_on(carrying)
            busy.quiet()
            report(f"link cut for {away_s} s", counted_here(server, acknowledged(tmp_path, carrying)))


def test_a_link_that_loses_a_fifth_of_the_packets(tmp_path: Path, port: int) -> None:
    with hosts("board", "fleet") as (board, fleet):
        where = ipc_in(tmp_path)
        config = config_file(tmp_path, where, port, servers=[f"nats://{fleet.address}:{port}"], insecure=True)
        with (
            server_on(fleet, tmp_path, port) as server,
            a_busy_hub(tmp_path, where, rate=50) as busy,
            bridge(config, inside(board.namespace)) as carrying,
        ):
            with board.losing(0.2), fleet.losing(0.2):
                for _ in range(10):
                    carries_on(carrying)
                    eventually(lambda: busy.hub.next_seq > 500)
            busy.quiet()
            report("20 % of the packets lost", counted_here(server, acknowledged(tmp_path, carrying)))


def test_two_boards_on_hosts_of_their_own_that_lose_the_server_one_by_one_and_together(
    tmp_path: Path, port: int
) -> None:
    with hosts("door", "gate", "fleet") as (door, gate, fleet), server_on(fleet, tmp_path, port) as server:
        address = f"nats://{fleet.address}:{port}"
        with board_on(door, tmp_path, port, address) as one, board_on(gate, tmp_path, port, address) as two:
            for away, other in ((one, two), (two, one)):
                with away.host.cut_off():
                    carries_on(other.carrying)
                carries_on(away.carrying)
                server.kill()
                server.start(inside(fleet.namespace))
                carries_on(one.carrying)
                carries_on(two.carrying)
            for board in (one, two):
                board.busy.quiet()
            numbers = {board: acknowledged(board.folder, board.carrying) for board in (one, two)}
        server.kill()
        server.start()
        counts = [is_there_once(numbers[each], Stream(port), each.host.name) for each in (one, two)]
    report("two boards, links cut in turn, server killed twice", sum(counts))


@dataclass(frozen=True, eq=False)
class Board:
    """A hub and its bridge on a host."""

    host: Host
    folder: Path
    busy: BusyHub
    carrying: Bridge


@contextmanager
def board_on(host: Host, folder: Path, port: int, server: str) -> Iterator[Board]:
    """A hub that is named as its host, and a bridge there; its files are in a folder of that name."""
    own = folder / host.name
    own.mkdir()
    where = ipc_in(own)
    config = config_file(own, where, port, node=host.name, servers=[server], insecure=True)
    with (
        a_busy_hub(own, where, rate=50, node=host.name) as busy,
        bridge(config, inside(host.namespace)) as carrying,
    ):
        yield Board(host, own, busy, carrying)


@contextmanager
def server_on(host: Host, folder: Path, port: int) -> Iterator[NatsServer]:
    """A server on another host, whose stream forgets duplicates soon."""
    server = NatsServer(folder, port, address="0.0.0.0")  # noqa: S104 (of a network of its own)
    server.start()
    try:
        subjects = ["edged.*.*.prediction", "edged.*.gap", "edged.*.*.event", "edged.*.event"]
        Stream(port).add(subjects=subjects, duplicate_window=DUPLICATES_S)
        server.kill()
        server.start(inside(host.namespace))
        yield server
    finally:
        server.kill()


def counted_here(server: NatsServer, numbers: list[int]) -> int:
    """Start the server on this host with what it has stored, and count there."""
    server.kill()
    server.start()
    return is_there_once(numbers, Stream(server.port))


def ipc_in(folder: Path) -> Addresses:
    """A hub that other network namespaces reach, too."""
    where = Addresses()
    where.stream, where.replay = f"ipc://{folder}/stream", f"ipc://{folder}/replay"
    return where


def report(fault: str, count: int) -> None:
    """Print a row of the table in docs/how-to/fleet-nats.md (`pytest -s`)."""
    print(f"| {fault} | {count} | {count} | 0 |")
