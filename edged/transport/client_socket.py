"""Client sockets that reconnect, detect a dead peer, and report why a hub refuses the handshake.

libzmq never tries again after a refused handshake: a new socket is needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import zmq
from zmq.utils.monitor import parse_monitor_message

from edged.errors import ConfigError
from edged.transport.address import is_ipv6
from edged.transport.keys import KeyPair, load_pair, load_public

Context = zmq.Context[zmq.Socket[bytes]]

NUMBERS = count()  # numbers the monitor sockets: libzmq releases the name of a closed one only later
EVENTS = (
    zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
)
UNKNOWN = (
    "the hub does not know this key: there, add its .pub to security.allow for a subscriber, to security.cameras "
    "or security.workers for a host, then `edged reload`"
)
NO_KEY = "the hub requires a key: give yours and the hub's .pub (key and server_key, --key and --server-key)"
NO_KEYS_THERE = "the hub uses no keys: leave key and server_key out, or is it another program?"
WRONG_HUB = "the handshake fails: is the server key the .pub of this very hub?"
NO_HUB = "the answer there is not a hub's: is it the right address?"


@dataclass(frozen=True, slots=True)
class Curve:
    """Our key pair, and the only server key that we accept."""

    pair: KeyPair
    server: bytes


def curve_of(key: str | Path | None, server_key: str | Path | None) -> Curve | None:
    """Read key files; return None without any. Raises ConfigError."""
    if key is None and server_key is None:
        return None
    if key is None or server_key is None:
        raise ConfigError("a key and the hub's public key belong together: give both (NAME.key, HUB.pub)")
    return Curve(load_pair(Path(key)), load_public(Path(server_key)))


def connect(
    context: Context, kind: int, address: str, queued: int, curve: Curve | None = None
) -> zmq.Socket[bytes]:
    """Return a socket that connects to `address` as soon as it is reachable, and reconnects."""
    socket = unconnected(context, kind, address, queued, curve)
    socket.connect(address)
    return socket


def by_heartbeats(socket: zmq.Socket[bytes]) -> None:
    """Detect within 3 s that the other end is gone, or stopped."""
    socket.setsockopt(zmq.HEARTBEAT_IVL, 1000)  # milliseconds
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)


def by_the_kernel(socket: zmq.Socket[bytes]) -> None:
    """Detect within 3 s that the other end's host is gone, or that it has stopped reading.

    For links, where messages may be queued: libzmq 4.3.5 aborts if a heartbeat is due or arrives on a connection
    that broke meanwhile (zeromq/libzmq#3937, #4364).
    """
    socket.setsockopt(zmq.TCP_KEEPALIVE, 1)
    socket.setsockopt(zmq.TCP_KEEPALIVE_IDLE, 1)  # seconds
    socket.setsockopt(zmq.TCP_KEEPALIVE_INTVL, 1)
    socket.setsockopt(zmq.TCP_MAXRT, 3000)  # milliseconds without an answer: TCP_USER_TIMEOUT, tcp(7)


def unconnected(
    context: Context,
    kind: int,
    address: str,
    queued: int,
    curve: Curve | None = None,
    notice: Callable[[zmq.Socket[bytes]], None] = by_heartbeats,
) -> zmq.Socket[bytes]:
    """Return such a socket without connecting it, for more options."""
    socket = context.socket(kind)
    if curve:
        socket.setsockopt(zmq.CURVE_SERVERKEY, curve.server)
        socket.setsockopt(zmq.CURVE_PUBLICKEY, curve.pair.public)
        socket.setsockopt(zmq.CURVE_SECRETKEY, curve.pair.secret)
    socket.setsockopt(zmq.IPV6, is_ipv6(address))
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVHWM, queued)
    socket.setsockopt(zmq.MAXMSGSIZE, 2**24)  # bytes of one part, far more than a prediction has
    notice(socket)
    # the kernel repeats a probe after 1 s, so that the next one is at most 1.1 s away
    socket.setsockopt(zmq.CONNECT_TIMEOUT, 1500)
    socket.setsockopt(zmq.RECONNECT_IVL, 100)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
    return socket


class Handshakes:
    """The handshakes of one connecting socket. `socket` is readable when there is an event."""

    def __init__(self, context: Context, socket: zmq.Socket[bytes], curve: Curve | None) -> None:
        self._curve = curve
        self._broken_off = 0  # in a row, and without a reason
        self._succeeded = False
        self.socket = context.socket(zmq.PAIR)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        self.socket.setsockopt(zmq.LINGER, 0)
        name = f"inproc://handshakes/{next(NUMBERS)}"
        socket.monitor(name, EVENTS)
        self.socket.connect(name)

    def failure(self) -> str:
        """Return why the last handshake has failed since the last call.

        Empty if none has, or one has succeeded since.
        """
        failure = ""
        while self.socket.poll(0):
            event = parse_monitor_message(self.socket.recv_multipart())
            match event["event"]:
                case zmq.EVENT_HANDSHAKE_SUCCEEDED:
                    self._broken_off = 0
                    self._succeeded = True
                    failure = ""
                case zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                    failure = UNKNOWN
                case zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
                    mismatch = event["value"] == zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
                    failure = (NO_KEYS_THERE if self._curve else NO_KEY) if mismatch else NO_HUB
                case zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
                    failure = self._guess()
        return failure

    def pop_success(self) -> bool:
        """Return whether one has succeeded since the last call, as far as `failure` has seen."""
        succeeded, self._succeeded = self._succeeded, False
        return succeeded

    def _guess(self) -> str:
        """Guess the reason: a hub with keys may close the connection early.

        A hub that is ending does so only once.
        """
        self._broken_off += 1
        if self._curve:
            return WRONG_HUB
        return NO_KEY if self._broken_off > 1 else ""

    def close(self) -> None:
        """Stop watching the socket."""
        self.socket.close()
