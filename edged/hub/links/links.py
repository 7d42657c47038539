"""The hub's two doors: one for the children on this host, one for cameras and workers of others."""

import logging
from collections.abc import Iterator, Sequence

import zmq

from edged.config import Config
from edged.hub.frames.slot import Pixels
from edged.hub.links.link import Link, Received
from edged.hub.refusals import Refusal
from edged.messages import LinkMessage, Stop

log = logging.getLogger("edged.hub")


def elsewhere(config: Config) -> frozenset[str]:
    """The names, on their links, of the cameras and workers of other hosts."""
    cameras = (f"camera/{name}" for name, camera in config.cameras.items() if camera.host)
    workers = (f"worker/{config.worker_name(index)}" for index, worker in enumerate(config.workers) if worker.host)
    return frozenset((*cameras, *workers))


class Links:
    """Every camera and worker, by its name.

    `elsewhere`: the names of those that come from other hosts. They come through the outer door alone, only with
    a key for what they are, and nobody else does.
    """

    def __init__(self, inner: Link, outer: Link | None = None, elsewhere: frozenset[str] = frozenset()) -> None:
        self._inner = inner
        self._outer = outer
        self._doors = [inner, *([outer] if outer else [])]
        self.elsewhere = elsewhere

    @property
    def sockets(self) -> list[zmq.Socket[bytes]]:
        """To be polled."""
        return [door.socket for door in self._doors]

    def wait(self, within_ms: int) -> bool:
        """Whether a message has come, waiting so long for it."""
        poller = zmq.Poller()
        for socket in self.sockets:
            poller.register(socket, zmq.POLLIN)
        return bool(poller.poll(within_ms))

    def refusals(self) -> Iterator[Refusal]:
        """Who has said what does not fit, since this was asked last."""
        for door in self._doors:
            while door.refused:
                yield door.refused.popleft()

    def listen_at(self, address: str) -> None:
        """Hear children at another address of ipc too. Raises OSError."""
        self._inner.listen_at(address)

    def shut(self) -> None:
        """Hear no other host any more: they go on, whatever becomes of this hub."""
        self._doors = [self._inner]

    def receive(self) -> Received | None:
        """The next message, or None where there is none now."""
        return self._from_here() or self._from_elsewhere()

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Whether the peer is there and has room; nothing is sent to one that is not."""
        link = self._outer if peer in self.elsewhere else self._inner
        return link is not None and link.send(peer, message, payloads)

    def _from_here(self) -> Received | None:
        """The last words of one that has moved to another host are not its successor's."""
        while (received := self._inner.receive()) and received.peer in self.elsewhere:
            pass
        return received

    def _from_elsewhere(self) -> Received | None:
        while self._outer in self._doors and (received := self._outer.receive()):
            if not (problem := self._problem(received)):
                return received
            log.warning("%s is refused: %s", received.peer.replace("/", " "), problem)
            self._outer.send(received.peer, Stop(refused=problem))
            self._outer.reject(received.header, "not_expected")
        return None

    def _problem(self, received: Received) -> str:
        kind, _, name = received.peer.partition("/")
        if received.peer not in self.elsewhere:
            return f"this hub's config has no {kind} {name} on another host (host: …)"
        roles = received.roles
        if roles and kind not in roles:
            return f"its key is for {' and '.join(sorted(roles))}, not for a {kind}: see security.{kind}s"
        return ""
