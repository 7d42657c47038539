"""The hub's end of the private link: peers by name, in turn, and what ends a connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter

from edged.hub.links import unix_link
from edged.hub.links.authentication import Rejections
from edged.hub.links.received import Received, Role
from edged.hub.links.unix_link import UnixLink
from edged.messages import Echo, Stop, encode
from edged.transport.address import path_of
from edged.transport.unix_connection import UnixConnection
from tests.eventually import eventually
from tests.link_ends import PeerEnd

MESSAGE = Echo(reply_bytes=0)
LARGE = bytes(4_000_000)  # more than the kernel holds


class Door:
    """A hub's end, its peers, and how many were rejected."""

    def __init__(self, folder: Path) -> None:
        self.address = f"unix://{folder}/hub"
        self._registry = CollectorRegistry()
        counter = Counter("rejected", "peers", ["endpoint", "reason"], registry=self._registry)
        self.link = UnixLink(self.address, Rejections(counter))
        self.peers: list[PeerEnd] = []

    def peer(self, name: str) -> PeerEnd:
        self.peers.append(PeerEnd(self.address, name))
        return self.peers[-1]

    def received(self) -> Received:
        received = eventually(self.link.receive)
        assert received
        return received

    def joined(self, name: str) -> PeerEnd:
        """A peer whose first message was read."""
        peer = self.peer(name)
        peer.send(encode(MESSAGE))
        self.received()
        return peer

    def has_rejected(self, reason: str) -> bool:
        assert self.link.receive() is None
        return self._registry.get_sample_value("rejected_total", {"endpoint": "link", "reason": reason}) == 1


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    door = Door(tmp_path)
    yield door
    for peer in door.peers:
        peer.close()
    door.link.close()


def has_closed(connection: UnixConnection) -> bool:
    """Whether the hub has closed a connection that has nothing left to read."""
    try:
        assert connection.receive() is None
    except ConnectionError:
        return True
    return False


def test_a_message_comes_with_the_role_and_name_of_its_peer(door: Door) -> None:
    door.peer("camera/yard").send(encode(MESSAGE), b"pixels")
    received = door.received()

    assert (received.peer, received.role, received.name) == ("camera/yard", Role.CAMERA, "yard")
    assert received.message == MESSAGE
    assert [bytes(each) for each in received.payloads] == [b"pixels"]
    assert received.roles == frozenset()


def test_peers_take_turns(door: Door) -> None:
    for peer in [door.joined("camera/busy"), door.joined("camera/calm")]:
        for _ in range(3):
            peer.send(encode(MESSAGE))
    names = [door.received().name for _ in range(6)]

    assert [set(names[turn : turn + 2]) for turn in (0, 2, 4)] == [{"busy", "calm"}] * 3


def test_a_peer_that_is_absent_or_has_left_cannot_be_sent_to(door: Door) -> None:
    assert not door.link.send("worker/w", MESSAGE)
    peer = door.joined("worker/w")
    assert door.link.send("worker/w", MESSAGE)
    assert peer.message() == MESSAGE

    peer.close()
    door.peers.clear()
    eventually(lambda: door.link.receive() is None and not door.link.send("worker/w", MESSAGE))


def test_a_peer_that_does_not_read_has_no_room_and_gets_what_was_accepted(door: Door) -> None:
    peer = door.joined("worker/w")
    accepted = 0
    while door.link.send("worker/w", MESSAGE, [LARGE]):
        accepted += 1

    for _ in range(accepted):
        parts = eventually(lambda: door.link.receive() or peer.connection.receive())
        assert isinstance(parts, list)
        assert len(parts[1]) == len(LARGE)
    assert door.link.send("worker/w", MESSAGE)


def test_a_restarted_peer_takes_over_its_name(door: Door) -> None:
    first, second = door.joined("camera/yard"), door.joined("camera/yard")

    assert door.link.send("camera/yard", MESSAGE)
    assert second.message() == MESSAGE
    assert has_closed(first.connection)


def test_what_is_not_a_message_is_refused_with_the_reason_and_ends_the_connection(door: Door) -> None:
    peer = door.joined("camera/yard")
    peer.send(b"{nonsense")

    eventually(lambda: door.has_rejected("malformed"))
    stop = peer.message()
    assert isinstance(stop, Stop)
    assert "not a message of protocol" in str(stop.refused)
    assert [refusal.peer for refusal in door.link.refused] == ["camera/yard"]
    eventually(lambda: has_closed(peer.connection))


def test_a_peer_that_gives_no_name_in_time_is_rejected(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_link, "NAMED_WITHIN_NS", 0)
    silent = UnixConnection.to(path_of(door.address), queued=1)

    eventually(lambda: door.has_rejected("silent"))
    eventually(lambda: has_closed(silent))
    silent.close()


def test_more_connections_than_it_takes_are_rejected(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_link, "CONNECTIONS", 2)
    kept = [door.joined("camera/a"), door.joined("camera/b")]
    door.peer("camera/c")

    eventually(lambda: door.has_rejected("too_many"))
    assert [door.link.send(f"camera/{name}", MESSAGE) for name in "ab"] == [True, True]
    assert [peer.message() for peer in kept] == [MESSAGE, MESSAGE]


def test_a_socket_that_was_removed_is_made_again_and_peers_stay_connected(door: Door) -> None:
    before = door.joined("camera/before")
    path_of(door.address).unlink()
    door.link.listen_at(door.address)

    door.joined("camera/after")
    before.send(encode(MESSAGE))
    assert door.received().name == "before"
