"""The hub's end of the private link: Unix sockets to its children and to the verbs of this host.

The hub's own thread reads and writes. libzmq has a thread for that, which wakes and is woken with each message
(docs/benchmarks/notes/2026-11-29-hub-links.md). What a peer sends needs no limit, as the guard sets elsewhere:
only this user can connect, and a peer that is not read has to wait.
"""

import select
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from socket import socket

from edged.clock import NANOSECONDS, now_ns
from edged.errors import MessageError
from edged.hub.events import Refusal
from edged.hub.links.authentication import Rejections
from edged.hub.links.received import Received, parse_peer
from edged.messages import LinkMessage, Stop, decode, encode
from edged.transport.address import path_of
from edged.transport.unix_connection import Part, UnixConnection, listen

PRIVATE = "link"  # its name in the metrics
QUEUED = 64  # messages that may wait for a peer; frames wait in slots, not here
CONNECTIONS = 1000
NAMED_WITHIN_NS = 2 * NANOSECONDS


@dataclass(eq=False)
class Peer:
    """One connection. `name`: empty until its first message, which is the name alone."""

    connection: UnixConnection
    name: str = ""
    since_ns: int = field(default_factory=now_ns)


class UnixLink:
    """Connections of peers that are identified by their names, such as `camera/NAME` or `worker/NAME`."""

    def __init__(self, address: str, rejections: Rejections) -> None:
        """Listen at `address` (unix:///path). Raises OSError."""
        self.refused: deque[Refusal] = deque(maxlen=QUEUED)  # peers that sent an invalid message
        self._rejections = rejections
        self._epoll = select.epoll()
        self._peers: dict[int, Peer] = {}  # by descriptor
        self._named: dict[str, Peer] = {}
        self._unnamed: dict[int, Peer] = {}
        self._readable: deque[int] = deque()
        self._listener = self._listen(address)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a peer has connected, sent something, or closed."""
        return self._epoll.fileno()

    def listen_at(self, address: str) -> None:
        """Listen at this address in place of the one before; peers stay connected. Raises OSError."""
        before, self._listener = self._listener, self._listen(address)
        self._epoll.unregister(before)
        before.close()

    def receive(self) -> Received | None:
        """Return the next message, or None if none is complete now. A peer with an invalid message is refused.

        Peers take turns: each is read once before any is read again. So one that connects again and again, or
        sends a large message in parts, cannot keep the loop here.
        """
        if not self._readable:
            self._look()
        while self._readable:
            peer = self._peers.get(self._readable.popleft())
            if peer and (received := self._received_from(peer)):
                return received
        return None

    def send(self, name: str, message: LinkMessage, payloads: Sequence[Part] = ()) -> bool:
        """Send a message; return False, with nothing sent, if the peer is absent or has no room."""
        peer = self._named.get(name)
        if peer is None or not peer.connection.send([encode(message), *payloads]):
            return False
        if peer.connection.unsent:
            self._epoll.modify(peer.connection.fileno(), select.EPOLLIN | select.EPOLLOUT)
        return True

    def close(self) -> None:
        """Close all connections."""
        for peer in list(self._peers.values()):
            self._close(peer)
        self._listener.close()
        self._epoll.close()

    def _listen(self, address: str) -> socket:
        listener = listen(path_of(address))
        self._epoll.register(listener, select.EPOLLIN)
        return listener

    def _look(self) -> None:
        """Handle what has happened to connections, and find those that are to be read."""
        if self._unnamed:
            self._reject_silent(now_ns())
        for descriptor, events in self._epoll.poll(0, CONNECTIONS):
            if descriptor == self._listener.fileno():
                self._accept()
                continue
            if events & select.EPOLLOUT and self._peers[descriptor].connection.flush():
                self._epoll.modify(descriptor, select.EPOLLIN)
            if events & ~select.EPOLLOUT:
                self._readable.append(descriptor)

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except OSError:  # it has left already, or this process has no descriptor left
            return
        peer = Peer(UnixConnection(accepted, QUEUED))
        descriptor = accepted.fileno()
        self._peers[descriptor] = self._unnamed[descriptor] = peer
        self._epoll.register(descriptor, select.EPOLLIN)
        if len(self._peers) > CONNECTIONS:
            self._reject(peer, "too_many")

    def _received_from(self, peer: Peer) -> Received | None:
        try:
            parts = peer.connection.receive()
        except OSError:  # it has closed the connection
            self._close(peer)
            return None
        except MessageError:
            self._reject(peer, "malformed")
            return None
        if parts is None:
            return None
        if not peer.name:
            self._name(peer, parts)
            return None
        return self._decoded(peer, parts)

    def _name(self, peer: Peer, parts: Sequence[memoryview]) -> None:
        """Take a peer's name. A restarted child takes over the one that it had."""
        name = bytes(parts[0]).decode(errors="replace")
        if len(parts) > 1 or not name:
            self._reject(peer, "malformed")
            return
        if name in self._named:
            self._close(self._named[name])
        del self._unnamed[peer.connection.fileno()]
        peer.name = name
        self._named[name] = peer

    def _decoded(self, peer: Peer, parts: Sequence[memoryview]) -> Received | None:
        header, *payloads = parts
        try:
            return Received(peer.name, *parse_peer(peer.name), decode(header), payloads, header)
        except MessageError as error:
            self.refused.append(Refusal(peer.name if peer.name.isprintable() else repr(peer.name), str(error)))
            peer.connection.send([encode(Stop(refused=str(error)))])
            self._reject(peer, "malformed")
            return None

    def _reject_silent(self, now: int) -> None:
        for peer in list(self._unnamed.values()):
            if now - peer.since_ns > NAMED_WITHIN_NS:
                self._reject(peer, "silent")

    def _reject(self, peer: Peer, reason: str) -> None:
        """Disconnect a peer and count it; `reason`: one of `rejections`."""
        self._rejections.add(PRIVATE, reason, f"process {peer.connection.peer_process()}")
        self._close(peer)

    def _close(self, peer: Peer) -> None:
        descriptor = peer.connection.fileno()
        self._epoll.unregister(descriptor)
        del self._peers[descriptor]
        self._unnamed.pop(descriptor, None)
        if self._named.get(peer.name) is peer:
            del self._named[peer.name]
        peer.connection.close()
