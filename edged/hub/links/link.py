"""The hub's end of the links to cameras and workers."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import zmq

from edged.connect import by_the_kernel
from edged.errors import MessageError
from edged.hub.frames.slot import Pixels
from edged.hub.links.connection import Bounds
from edged.hub.links.guard import Guard
from edged.hub.links.multipart import receive_parts, send_parts
from edged.hub.links.sockets import OTHERS, bind
from edged.hub.refusals import Refusal
from edged.messages import LinkMessage, Stop, decode, encode

QUEUED = 64  # messages of one peer; frames wait in slots, not here
PRIVATE, OUTER = "link", "link.address"
OURS = Bounds(burst=0, a_second=0, lifetime=None, connections=1000)  # this user's; ipc counts no bytes
LARGEST_BYTES = 1 << 30  # 16384 × 16384 × 3 is what a config may ask for at most


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the peer of that name."""

    peer: str
    message: LinkMessage
    payloads: Sequence[zmq.Frame]
    header: zmq.Frame

    @property
    def roles(self) -> frozenset[str]:
        """What the key of the sender is for, as `Zap` has said; none where there are no keys."""
        try:
            roles, _, _ = str(self.header.get("User-Id")).partition(" ")
        except zmq.ZMQError:  # a socket without a guard
            return frozenset()
        return frozenset(roles.split(",")) - {""}


class Link:
    """A ROUTER socket. Peers are known by their names, `camera/NAME` or `worker/NAME`."""

    def __init__(self, socket: zmq.Socket[bytes], name: str = PRIVATE, guard: Guard | None = None) -> None:
        """`name`: what `guard` calls the socket."""
        self.socket = socket
        self._name = name
        self._guard = guard
        self.refused: deque[Refusal] = deque(maxlen=QUEUED)  # whose message did not fit

    def receive(self) -> Received | None:
        """The next message, or None where there is none now. A peer whose message does not fit is refused."""
        while received := receive_parts(self.socket):
            peer, *parts = received
            name = peer.bytes.decode(errors="replace")
            try:
                header, *payloads = parts
                return Received(name, decode(header.buffer), payloads, header)
            except ValueError:  # one part alone: no header
                self.reject(peer)
            except MessageError as error:
                shown = name if name.isprintable() else repr(peer.bytes)
                self.refused.append(Refusal(shown, str(error)))
                self.send(name, Stop(refused=str(error)))
                self.reject(peer)
        return None

    def listen_at(self, address: str) -> None:
        """Hear those too that connect there. Raises OSError."""
        try:
            self.socket.bind(address)
        except zmq.ZMQError as error:
            raise OSError(error.errno, f"{address}: {error.strerror}") from None

    def reject(self, part: zmq.Frame, reason: str = "malformed") -> None:
        """Cut off the peer from which this part of a message came; `reason`: one of `rejections`."""
        if self._guard:
            self._guard.reject(self._name, part, reason)

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Whether the peer is there and has room; nothing is sent to one that is not."""
        try:
            send_parts(self.socket, [peer.encode(), encode(message), *payloads])
        except (zmq.Again, zmq.ZMQError) as error:
            if error.errno not in {zmq.EAGAIN, zmq.EHOSTUNREACH}:
                raise
            return False
        return True


def inner_door(context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> Link:
    """For children of this hub and `edged reload`, at an address of ipc."""
    socket = context.socket(zmq.ROUTER)
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
    socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a child that was started again takes its name over
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, QUEUED)
    socket.setsockopt(zmq.SNDHWM, QUEUED)
    socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 2000)  # milliseconds
    if guard:
        guard.admit(socket, PRIVATE, address, OURS)
    socket.bind(address)
    return Link(socket, PRIVATE, guard)


def outer_door(context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> Link:
    """For cameras and workers of other hosts. Raises ConfigError where the address cannot be used."""
    socket = bind(
        context,
        zmq.ROUTER,
        OUTER,
        address,
        QUEUED,
        guard,
        bounds=OTHERS,
        largest=LARGEST_BYTES,
        notice=by_the_kernel,
    )
    return Link(socket, OUTER, guard)
