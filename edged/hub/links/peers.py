"""The hub's links to cameras and workers: one for the children on this host, one for other hosts, by key."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

import zmq

from edged.clock import now_ns, wall_s
from edged.config import Config, SecurityConfig
from edged.errors import ConfigError
from edged.hub.events import Refusal
from edged.hub.frames.queues import Pixels
from edged.hub.links.authentication import Rejections
from edged.hub.links.guard import Guard
from edged.hub.links.received import Received
from edged.hub.links.unix_link import UnixLink
from edged.hub.links.zmq_link import OUTER, ZmqLink
from edged.hub.service_threads import ServiceThreads
from edged.messages import CameraHello, ClockAnswer, ClockRequest, LinkMessage, Stop, WorkerHello
from edged.transport.keys import load_allowed, load_pair

log = logging.getLogger("edged.hub")


def elsewhere(config: Config) -> frozenset[str]:
    """Return the link names of the cameras and workers of other hosts."""
    cameras = (f"camera/{name}" for name, camera in config.cameras.items() if camera.host)
    workers = (f"worker/{config.worker_name(index)}" for index, worker in enumerate(config.workers) if worker.host)
    return frozenset((*cameras, *workers))


class Links:
    """The links to every camera and worker.

    `elsewhere`: the names of those that come from other hosts. These connect only to the remote link, with a key
    for their role, and no other peer does.
    """

    def __init__(
        self, inner: UnixLink, outer: ZmqLink | None = None, elsewhere: frozenset[str] = frozenset()
    ) -> None:
        self._inner = inner
        self._outer = outer
        self._doors: list[UnixLink | ZmqLink] = [inner, *([outer] if outer else [])]
        self._has_keys = outer is not None and outer.has_keys
        self.elsewhere = elsewhere
        self._leaving: frozenset[str] = frozenset()  # no longer in the config, and perhaps still connected

    @property
    def sockets(self) -> list[int | zmq.Socket[bytes]]:
        """Return the descriptors and sockets to poll."""
        outer = [self._outer.socket] if self._outer in self._doors and self._outer else []
        return [self._inner.fileno(), *outer]

    def wait(self, within_ms: int) -> bool:
        """Wait for so long; return whether a message has come."""
        poller = zmq.Poller()
        for socket in self.sockets:
            poller.register(socket, zmq.POLLIN)
        return bool(poller.poll(within_ms))

    def refusals(self) -> Iterator[Refusal]:
        """Return the peers that sent invalid messages since the last call."""
        for door in self._doors:
            while door.refused:
                yield door.refused.popleft()

    def listen_at(self, address: str) -> None:
        """Listen for children at this address (unix:///path) from now on. Raises OSError."""
        self._inner.listen_at(address)

    def expect(self, elsewhere: frozenset[str]) -> None:
        """Expect these cameras and workers of other hosts from now on.

        One that is no longer among them may have sent more before it reads its `Stop`: that is dropped, and the
        peer is rejected only if it connects again.
        """
        self._leaving = (self._leaving | self.elsewhere) - elsewhere
        self.elsewhere = elsewhere

    def shut(self) -> None:
        """Stop listening for other hosts: their processes continue independently of this hub."""
        self._doors = [self._inner]

    def close(self) -> None:
        """Close the connections of this host."""
        self._inner.close()

    def receive(self) -> Received | None:
        """Return the next message, or None if there is none now."""
        return self._from_here() or self._from_elsewhere()

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Send a message; return False, with nothing sent, if the peer is absent or has no room."""
        link = self._outer if peer in self.elsewhere else self._inner
        return link is not None and link.send(peer, message, payloads)

    def answer_clock(self, peer: str, request: ClockRequest) -> None:
        """Send the times of this hub's clocks to a peer."""
        self.send(peer, ClockAnswer(sent_ns=request.sent_ns, hub_ns=now_ns(), hub_at=wall_s()))

    def _from_here(self) -> Received | None:
        """Return False for the last messages of a peer that has moved to another host."""
        while (received := self._inner.receive()) and received.peer in self.elsewhere:
            pass
        return received

    def _from_elsewhere(self) -> Received | None:
        while self._outer in self._doors and (received := self._outer.receive()):
            if not (problem := self._problem(received)):
                return received
            self._outer.send(
                received.peer, Stop(refused=problem)
            )  # again, if it is leaving: it may have missed one
            if isinstance(received.message, CameraHello | WorkerHello):
                self._leaving -= {received.peer}  # it has connected again
            if received.peer not in self._leaving:
                log.warning("%s is refused: %s", received.peer.replace("/", " "), problem)
                self._outer.reject(received.frame, "not_expected")
        return None

    def _problem(self, received: Received) -> str:
        role = received.role
        if received.peer not in self.elsewhere:
            return f"this hub's config has no {role} {received.name} on another host (host: …)"
        allowed = received.roles if self._has_keys else frozenset()
        if allowed and role not in allowed:
            return f"its key is for {' and '.join(sorted(allowed))}, not for a {role}: see security.{role}s"
        return ""


# by endpoint and key: the name of the peer, `NAME`, or `camera,worker NAME`
Allowed = Mapping[str, Mapping[bytes, str]]


def allowed_by(security: SecurityConfig | None) -> Allowed:
    """Return the keys that the config allows. Raises ConfigError for a key file that cannot be used."""
    if security is None:
        return {}
    subscribers = load_allowed(security.allow)
    roles = {"camera": load_allowed(security.cameras), "worker": load_allowed(security.workers)}
    names = {key: name for allowed in roles.values() for key, name in allowed.items()}
    peers = {
        key: f"{','.join(role for role, allowed in roles.items() if key in allowed)} {name}"
        for key, name in names.items()
    }
    return {"publish.address": subscribers, "publish.replay": subscribers, OUTER: peers}


Context = zmq.Context[zmq.Socket[bytes]]


def open_guard(
    context: Context, config: Config, rejections: Rejections, services: ServiceThreads, resources: ExitStack
) -> Guard:
    """Open the guard with the keys of the config; `resources` closes it. Raises ConfigError for a key file."""
    security = config.security
    guard = Guard(context, rejections, services, load_pair(security.key) if security else None)
    resources.callback(guard.close)
    if security:
        guard.allow(allowed_by(security))
    return guard


def open_links(
    context: Context, config: Config, address: str, guard: Guard, rejections: Rejections, resources: ExitStack
) -> Links:
    """Open the private link at `address`, and the one to other hosts if the config has one. Raises ConfigError.

    `resources` closes the private one; the other is closed with its context.
    """
    outside = config.link.bind or config.link.address
    outer = ZmqLink(context, outside, guard) if outside else None
    try:
        inner = UnixLink(address, rejections)
    except OSError as error:
        raise ConfigError(f"{address} cannot be used: {error.strerror or error}") from None
    links = Links(inner, outer, elsewhere(config))
    resources.callback(links.close)
    return links
