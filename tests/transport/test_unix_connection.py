"""Messages over a Unix socket: whole or not at all, of any size, and read to the end."""

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from edged.errors import MessageError
from edged.transport.unix_connection import LARGEST_BYTES, MOST_PARTS, PACKET, UnixConnection, listen
from tests.eventually import eventually

HEADER = b'{"kind": "frame"}'
LARGE = 40 * PACKET  # more than the kernel holds


@pytest.fixture
def ends() -> Iterator[tuple[UnixConnection, UnixConnection]]:
    """Two ends of a connection; two messages may wait at each."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connections = UnixConnection(ours, queued=2), UnixConnection(theirs, queued=2)
    yield connections
    for connection in connections:
        connection.close()


def read(receiver: UnixConnection, sender: UnixConnection) -> list[bytes]:
    """Return the next message while its sender sends what waits."""

    def parts() -> list[memoryview] | None:
        sender.flush()
        return receiver.receive()

    return [bytes(part) for part in eventually(parts) or []]


def fill(sender: UnixConnection, message: list[bytes]) -> int:
    """Send until there is no room; return how many were accepted."""
    accepted = 0
    while sender.send(message):
        accepted += 1
    return accepted


@pytest.mark.parametrize("size", [0, 1, PACKET - 100, PACKET, PACKET + 1, 3 * PACKET, LARGE])
def test_a_message_of_any_size_arrives_as_it_was(ends: tuple[UnixConnection, UnixConnection], size: int) -> None:
    sender, receiver = ends
    picture = np.random.default_rng(size).bytes(size)

    assert sender.send([HEADER, b"", picture])
    assert read(receiver, sender) == [HEADER, b"", picture]
    assert receiver.receive() is None


def test_pixels_are_sent_as_they_lie_in_memory(ends: tuple[UnixConnection, UnixConnection]) -> None:
    sender, receiver = ends
    for shape in ((4, 3, 3), (400, 300, 3)):
        pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert sender.send([HEADER, pixels.data])
        assert read(receiver, sender) == [HEADER, pixels.tobytes()]


@pytest.mark.parametrize("size", [100, PACKET // 2, LARGE])
def test_without_room_a_message_is_refused_and_what_was_accepted_arrives(
    ends: tuple[UnixConnection, UnixConnection], size: int
) -> None:
    sender, receiver = ends
    accepted = fill(sender, [HEADER, bytes(size)])

    assert accepted >= 2
    assert not sender.has_room()
    assert [len(read(receiver, sender)[1]) for _ in range(accepted)] == [size] * accepted
    assert receiver.receive() is None
    assert sender.has_room()
    assert sender.send([HEADER])


def test_pixels_that_change_after_they_were_accepted_arrive_as_they_were(
    ends: tuple[UnixConnection, UnixConnection],
) -> None:
    sender, receiver = ends
    pixels = np.full(LARGE, 7, np.uint8)
    assert sender.send([HEADER, pixels.data])
    pixels[:] = 0

    assert read(receiver, sender) == [HEADER, b"\7" * LARGE]


def test_what_was_sent_before_the_end_is_read_although_messages_were_left_unread(
    ends: tuple[UnixConnection, UnixConnection],
) -> None:
    sender, receiver = ends
    receiver.send([b"which nobody reads"])  # so the kernel reports a reset
    sender.send([b"first"])
    sender.send([b"last"])
    sender.close()

    assert [read(receiver, sender), read(receiver, sender)] == [[b"first"], [b"last"]]
    with pytest.raises(ConnectionError, match="has closed"):
        receiver.receive()
    assert not receiver.send([b"too late"])


def test_a_close_that_lingers_sends_what_waits(ends: tuple[UnixConnection, UnixConnection]) -> None:
    sender, receiver = ends
    assert sender.send([bytes(5 * PACKET)])
    sender.close(linger_s=1.0)

    assert [len(part) for part in receiver.receive() or []] == [5 * PACKET]


@pytest.mark.parametrize(
    ("packet", "problem"),
    [
        (b"\0", "not a message"),
        (struct.pack("=I", 0), "not a message"),
        (struct.pack("=II", 2, 1), "not a message"),
        (struct.pack("=I", MOST_PARTS + 1) + bytes(4 * MOST_PARTS + 4), "not a message"),
        (struct.pack("=II", 1, LARGEST_BYTES + 1), f"at most {LARGEST_BYTES} are allowed"),
        (struct.pack("=II", 1, 2) + b"abc", "1 bytes more than it announced"),
    ],
)
def test_what_is_not_a_message_is_refused(packet: bytes, problem: str) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    receiver = UnixConnection(ours, queued=2)
    theirs.send(packet)

    with pytest.raises(MessageError, match=problem):
        receiver.receive()
    receiver.close()
    theirs.close()


def test_nobody_listens_where_no_hub_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        UnixConnection.to(tmp_path / "hub", queued=2)
    listener = listen(tmp_path / "hub")
    listener.close()
    with pytest.raises(ConnectionRefusedError):
        UnixConnection.to(tmp_path / "hub", queued=2)


def test_a_process_at_the_other_end_is_known(tmp_path: Path) -> None:
    listener = listen(tmp_path / "hub")
    ours = UnixConnection.to(tmp_path / "hub", queued=2)
    theirs = UnixConnection(listener.accept()[0], queued=2)
    with suppress(ProcessLookupError):
        assert Path(f"/proc/{theirs.peer_process()}/comm").samefile("/proc/self/comm")
    for each in (ours, theirs, listener):
        each.close()
