"""The hub's end of the links to cameras and workers."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import zmq

from edged.errors import MessageError
from edged.hub.slot import Pixels
from edged.messages import SCHEMA, LinkMessage, Stop, decode, encode

log = logging.getLogger("edged.hub")

QUEUED = 64  # messages of one peer; frames wait in slots, not here
LARGEST_BYTES = 1 << 30  # 16384 × 16384 × 3 is what a config may ask for at most


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the peer of that name."""

    peer: str
    message: LinkMessage
    payloads: Sequence[zmq.Frame]


class Link:
    """A ROUTER socket. Peers are known by their names, `camera/NAME` or `worker/NAME`."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        self.socket = context.socket(zmq.ROUTER)
        self.socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self.socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a child that was started again takes its name over
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, QUEUED)
        self.socket.setsockopt(zmq.SNDHWM, QUEUED)
        self.socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
        self.socket.bind(address)

    def receive(self) -> Received | None:
        """The next message, or None where there is none now. A peer whose message does not fit is refused."""
        while True:
            try:
                peer, header, *payloads = self.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return None
            except ValueError:  # one part alone: no header
                continue
            name = peer.bytes.decode(errors="replace")
            try:
                return Received(name, decode(header.buffer), payloads)
            except MessageError as error:
                log.warning("%s is refused, is it another version of edged? %s", name, error)
                self.send(name, Stop(refused=str(error)))

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
