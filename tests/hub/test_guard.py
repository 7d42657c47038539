"""Connections that end before the guard sees them, when their numbers belong to other files of this process."""

import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zmq
from prometheus_client import CollectorRegistry, Counter

from edged.hub.links.authentication import Rejections
from edged.hub.links.connection import Bounds
from edged.hub.links.guard import Endpoint

BOUNDS = Bounds(burst=1, a_second=1, lifetime=None, connections=10)


class Guarded:
    """An endpoint whose monitor reports what a test says."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        self.registry = CollectorRegistry()
        counter = Counter("rejected", "Peers.", ["endpoint", "reason"], registry=self.registry)
        self.libzmq, monitor = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
        self.libzmq.bind("inproc://monitor")
        monitor.connect("inproc://monitor")
        self.endpoint = Endpoint("link", address, BOUNDS, monitor, Rejections(counter))

    def reports(self, *events: tuple[int, int]) -> None:
        """Report these events of libzmq, each with a descriptor, and let the guard handle them."""
        for event, descriptor in events:
            self.libzmq.send_multipart([struct.pack("=hi", event, descriptor), b""])
        self.endpoint.listen()

    def counted(self, reason: str) -> float:
        """Return how many peers were rejected for that."""
        return self.registry.get_sample_value("rejected_total", {"endpoint": "link", "reason": reason}) or 0.0

    def close(self) -> None:
        self.endpoint.close()
        self.libzmq.close()


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Guarded]:
    with zmq.Context() as context:
        guarded = Guarded(context, f"ipc://{tmp_path}/hub")
        yield guarded
        guarded.close()


def scrape_that_has_ended(_: Path) -> socket.socket:
    """Return our end of a TCP connection whose other end has closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
        connection, _ = server.accept()
        connection.shutdown(socket.SHUT_WR)
        return connection


def connection_to(path: Path) -> socket.socket:
    """Return our end of a connection to a socket at this path; the other end has closed."""
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as peer:
        server.bind(str(path))
        server.listen()
        peer.connect(str(path))
        return server.accept()[0]


def connection_to_another_socket(folder: Path) -> socket.socket:
    return connection_to(folder / "other")


@pytest.mark.parametrize("taken_by", [scrape_that_has_ended, connection_to_another_socket])
def test_a_rejected_peer_is_counted_although_its_number_belongs_to_another_connection(
    guarded: Guarded, tmp_path: Path, taken_by: Callable[[Path], socket.socket]
) -> None:
    with taken_by(tmp_path) as other:
        number = other.fileno()
        guarded.reports(
            (zmq.EVENT_ACCEPTED, number),
            (zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL, zmq.PROTOCOL_ERROR_ZMTP_UNSPECIFIED),
            (zmq.EVENT_DISCONNECTED, number),
        )

    assert guarded.counted("not_zeromq") == 1


def test_a_peer_that_leaves_is_not_counted(guarded: Guarded, tmp_path: Path) -> None:
    with connection_to(tmp_path / "hub") as connection:
        guarded.reports((zmq.EVENT_ACCEPTED, connection.fileno()), (zmq.EVENT_DISCONNECTED, connection.fileno()))

    assert [guarded.counted(reason) for reason in ("malformed", "stalled", "immediate_disconnect")] == [0, 0, 0]


def test_a_number_that_belongs_to_a_file_leaves_none_open(guarded: Guarded, tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        guarded.reports((zmq.EVENT_ACCEPTED, file.fileno()))
        guarded.reports((zmq.EVENT_DISCONNECTED, file.fileno()))

    open_files = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert str(tmp_path / "file") not in open_files
    assert guarded.counted("immediate_disconnect") == 1
