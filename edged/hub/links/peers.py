"""The hub's links to cameras and workers: one for the children on this host, one for other hosts, by key."""

import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import zmq

from edged.clock import now_ns, wall_s
from edged.config import Config, SecurityConfig
from edged.errors import MessageError
from edged.hub.events import Refusal
from edged.hub.frames.queues import Pixels
from edged.hub.links.authentication import Rejections
from edged.hub.links.connection import Bounds
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import LIVE_THREAD, OTHERS, bind, receive_parts, send_parts, serve_in
from edged.hub.service_threads import ServiceThreads
from edged.messages import CameraHello, ClockAnswer, ClockRequest, LinkMessage, Stop, WorkerHello, decode, encode
from edged.transport.client_socket import by_the_kernel
from edged.transport.keys import load_allowed, load_pair

QUEUED = 64  # messages of one peer; frames wait in slots, not here
PRIVATE, OUTER = "link", "link.address"
OURS = Bounds(burst=0, a_second=0, lifetime=None, connections=1000)  # of this user; ipc counts no bytes
LARGEST_BYTES = 1 << 30  # 16384 × 16384 × 3, the largest input that a config allows


class Role(StrEnum):
    """The role of a peer, as in its name on the link: `ROLE/NAME`."""

    CAMERA = "camera"
    WORKER = "worker"
    RELOAD = "reload"
    PROFILE = "profile"
    TRACE = "trace"
    TEACH = "teach"
    UNKNOWN = ""


CONTROL_ROLES = frozenset({Role.RELOAD, Role.PROFILE, Role.TRACE, Role.TEACH})  # on the private link only


_ROLES = {role.value: role for role in Role}


@lru_cache(maxsize=1024)
def parse_peer(peer: str) -> tuple[Role, str]:
    """Return the role and the name of a peer named `ROLE/NAME`."""
    role, _, name = peer.partition("/")
    return _ROLES.get(role, Role.UNKNOWN), name


@dataclass(slots=True, eq=False)
class Received:
    """A message from a peer, with its payloads as received. `role`, `name`: of the peer."""

    peer: str
    role: Role
    name: str
    message: LinkMessage
    payloads: Sequence[zmq.Frame]
    header: zmq.Frame

    @property
    def roles(self) -> frozenset[str]:
        """Return the roles that the sender's key is for, by `Zap`; none without keys."""
        try:
            roles, _, _ = str(self.header.get("User-Id")).partition(" ")
        except zmq.ZMQError:  # a socket without a guard
            return frozenset()
        return frozenset(roles.split(",")) - {""}


class Link:
    """A ROUTER socket. Peers are identified by their names, `camera/NAME` or `worker/NAME`."""

    def __init__(self, socket: zmq.Socket[bytes], name: str = PRIVATE, guard: Guard | None = None) -> None:
        """`name`: the endpoint's name for `guard`."""
        self.socket = socket
        self._name = name
        self._guard = guard
        self.refused: deque[Refusal] = deque(maxlen=QUEUED)  # peers that sent an invalid message

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
                header, *payloads = parts
                return Received(name, *parse_peer(name), decode(header.buffer), payloads, header)
            except ValueError:  # a single part: no header
                self.reject(peer)
            except MessageError as error:
                shown = name if name.isprintable() else repr(peer.bytes)
                self.refused.append(Refusal(shown, str(error)))
                self.send(name, Stop(refused=str(error)))
                self.reject(peer)
        return None

    def listen_at(self, address: str) -> None:
        """Listen at another address too. Raises OSError."""
        try:
            self.socket.bind(address)
        except zmq.ZMQError as error:
            raise OSError(error.errno, f"{address}: {error.strerror}") from None

    def reject(self, part: zmq.Frame, reason: str = "malformed") -> None:
        """Disconnect the peer that sent this part of a message; `reason`: one of `rejections`."""
        if self._guard:
            self._guard.reject(self._name, part, reason)

    def send(self, peer: str, message: LinkMessage, payloads: Sequence[Pixels] = ()) -> bool:
        """Send a message; return False, with nothing sent, if the peer is absent or has no room."""
        try:
            send_parts(self.socket, [peer.encode(), encode(message), *payloads])
        except (zmq.Again, zmq.ZMQError) as error:
            if error.errno not in {zmq.EAGAIN, zmq.EHOSTUNREACH}:
                raise
            return False
        return True


def local_link(context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> Link:
    """Open the link for children of this hub and `edged reload`, at an ipc address."""
    socket = context.socket(zmq.ROUTER)
    serve_in(LIVE_THREAD, socket, context)
    socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
    socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a restarted child takes over its name
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, QUEUED)
    socket.setsockopt(zmq.SNDHWM, QUEUED)
    socket.setsockopt(zmq.MAXMSGSIZE, LARGEST_BYTES)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 2000)  # milliseconds
    if guard:
        guard.admit(socket, PRIVATE, address, OURS)
    socket.bind(address)
    return Link(socket, PRIVATE, guard)


def remote_link(context: zmq.Context[zmq.Socket[bytes]], address: str, guard: Guard | None = None) -> Link:
    """Open the link for cameras and workers of other hosts. Raises ConfigError if the address cannot be used."""
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

    def __init__(self, inner: Link, outer: Link | None = None, elsewhere: frozenset[str] = frozenset()) -> None:
        self._inner = inner
        self._outer = outer
        self._doors = [inner, *([outer] if outer else [])]
        self._has_keys = outer is not None and outer.has_keys
        self.elsewhere = elsewhere
        self._leaving: frozenset[str] = frozenset()  # no longer in the config, and perhaps still connected

    @property
    def sockets(self) -> list[zmq.Socket[bytes]]:
        """Return the sockets to poll."""
        return [door.socket for door in self._doors]

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
        """Listen for children at another ipc address too. Raises OSError."""
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
                self._outer.reject(received.header, "not_expected")
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


def open_links(context: Context, config: Config, address: str, guard: Guard) -> Links:
    """Open the local link at `address`, and the remote one if the config has one. Raises ConfigError."""
    outside = config.link.bind or config.link.address
    outer = remote_link(context, outside, guard) if outside else None
    return Links(local_link(context, address, guard), outer, elsewhere(config))
