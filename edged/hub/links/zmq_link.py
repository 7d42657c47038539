"""The hub's end of the links to cameras and workers of other hosts, over ZeroMQ, which encrypts them."""

from collections import deque
from collections.abc import Sequence

import zmq

from edged.errors import MessageError
from edged.hub.events import Refusal
from edged.hub.frames.queues import Pixels
from edged.hub.links.guard import Guard
from edged.hub.links.received import Received, parse_peer
from edged.hub.links.sockets import OTHERS, bind, receive_parts, send_parts
from edged.messages import LinkMessage, Stop, decode, encode
from edged.transport.client_socket import by_the_kernel
from edged.transport.unix_connection import LARGEST_BYTES

OUTER = "link.address"  # its name in the config and in the metrics
QUEUED = 64  # messages of one peer; frames wait in slots, not here


class ZmqLink:
    """A ROUTER socket. Peers are identified by their names, `camera/NAME` or `worker/NAME`."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> None:
        """Raises ConfigError if the address cannot be used."""
        self.refused: deque[Refusal] = deque(maxlen=QUEUED)  # peers that sent an invalid message
        self._guard = guard
        self.socket = bind(
            *(context, zmq.ROUTER, OUTER, address, QUEUED, guard),
            bounds=OTHERS,
            largest=LARGEST_BYTES,
            notice=by_the_kernel,
        )

    @property
    def has_keys(self) -> bool:
        """Return whether each peer has proven a key."""
        return self._guard is not None and self._guard.has_keys

    def receive(self) -> Received | None:
        """Return the next message, or None if there is none now. A peer with an invalid message is refused."""
        while received := receive_parts(self.socket):
            peer, *parts = received
            name = peer.bytes.decode(errors="replace")
            try:
                header, *payloads = (part.buffer for part in parts)
                return Received(name, *parse_peer(name), decode(header), payloads, header, parts[0])
            except ValueError:  # a single part: no header
                self.reject(peer)
            except MessageError as error:
                shown = name if name.isprintable() else repr(peer.bytes)
                self.refused.append(Refusal(shown, str(error)))
                self.send(name, Stop(refused=str(error)))
                self.reject(peer)
        return None

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Send a message; return False, with nothing sent, if the peer is absent or has no room."""
        try:
            send_parts(self.socket, [peer.encode(), encode(message), *payloads])
        except (zmq.Again, zmq.ZMQError) as error:
            if error.errno not in {zmq.EAGAIN, zmq.EHOSTUNREACH}:
                raise
            return False
        return True

    def reject(self, part: zmq.Frame | None, reason: str = "malformed") -> None:
        """Disconnect the peer that sent this part of a message; `reason`: one of `rejections`."""
        if self._guard and part is not None:
            self._guard.reject(OUTER, part, reason)
