"""The hub's end of the links to cameras and workers."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import zmq

from edged.errors import MessageError
from edged.hub.connection import Bounds
from edged.hub.guard import Guard
from edged.hub.slot import Pixels
from edged.messages import SCHEMA, LinkMessage, Stop, decode, encode

log = logging.getLogger("edged.hub")

QUEUED = 64  # messages of one peer; frames wait in slots, not here
ENDPOINT = "link"
OURS = Bounds(burst=0, a_second=0, lifetime=None, connections=1000)  # this user's; ipc counts no bytes
LARGEST_BYTES = 1 << 30  # 16384 × 16384 × 3 is what a config may ask for at most


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the peer of that name."""

    peer: str
    message: LinkMessage
    payloads: Sequence[zmq.Frame]


class Link:
    """A ROUTER socket. Peers are known by their names, `camera/NAME` or `worker/NAME`."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> None:
        """Bound to `address`, guarded by `guard`."""
        self._guard = guard
        self.socket = context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a child that was started again takes its name over
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, QUEUED)
        self.socket.setsockopt(zmq.SNDHWM, QUEUED)
        self.socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        self.socket.setsockopt(zmq.HANDSHAKE_IVL, 2000)  # milliseconds
        if guard:
            guard.admit(self.socket, ENDPOINT, address, OURS)
        self.socket.bind(address)

    def receive(self) -> Received | None:
        """The next message, or None where there is none now. A peer whose message does not fit is refused."""
        while True:
            try:
                peer, *parts = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return None
            name = peer.bytes.decode(errors="replace")
            try:
                header, *payloads = parts
                return Received(name, decode(header.buffer), payloads)
            except ValueError:  # one part alone: no header
                self._reject(peer)
            except MessageError as error:
                shown = name if name.isprintable() else repr(peer.bytes)
                log.warning("%s is refused, is it another version of edged? %s", shown, error)
                self.send(name, Stop(refused=str(error)))
                self._reject(peer)

    def _reject(self, peer: zmq.Frame) -> None:
        if self._guard:
            self._guard.reject(ENDPOINT, peer)

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Whether the peer is there and has room; nothing is sent to one that is not."""
        try:
            self.socket.send_multipart([peer.encode(), encode(message), *payloads], zmq.NOBLOCK, copy=False)
        except (zmq.Again, zmq.ZMQError) as error:
            if error.errno not in {zmq.EAGAIN, zmq.EHOSTUNREACH}:
                raise
            return False
        return True


def protocol_problem(protocol: int) -> str:
    """Why a peer that speaks `protocol` is refused; empty where it is this hub's."""
    if protocol == SCHEMA:
        return ""
    return f"it speaks protocol {protocol}, this hub {SCHEMA}: install the same edged on both"
