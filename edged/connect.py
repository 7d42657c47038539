"""How a client connects: it comes back by itself, and notices a peer that is gone."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zmq

from edged.address import is_ipv6
from edged.errors import ConfigError
from edged.keys import KeyPair, load_pair, load_public

Context = zmq.Context[zmq.Socket[bytes]]


@dataclass(frozen=True, slots=True)
class Curve:
    """Who we are, and whom alone we talk to."""

    pair: KeyPair
    server: bytes


def curve_of(key: str | Path | None, server_key: str | Path | None) -> Curve | None:
    """From key files, or None without any. Raises ConfigError."""
    if key is None and server_key is None:
        return None
    if key is None or server_key is None:
        raise ConfigError("a key and the hub's public key belong together: give both (NAME.key, HUB.pub)")
    return Curve(load_pair(Path(key)), load_public(Path(server_key)))


def connect(
    context: Context, kind: int, address: str, queued: int, curve: Curve | None = None
) -> zmq.Socket[bytes]:
    """A socket that connects to `address`, as soon as somebody is there and again and again."""
    socket = unconnected(context, kind, address, queued, curve)
    socket.connect(address)
    return socket


def by_heartbeats(socket: zmq.Socket[bytes]) -> None:
    """Notice within 3 s that the other end is gone, or stands still."""
    socket.setsockopt(zmq.HEARTBEAT_IVL, 1000)  # milliseconds
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, 3000)


def by_the_kernel(socket: zmq.Socket[bytes]) -> None:
    """Notice within 3 s that the other end's host is gone, or that it takes nothing any more.

    For links, where messages may wait for us: libzmq 4.3.5 aborts where a heartbeat is due, or comes, on a
    connection that broke meanwhile (zeromq/libzmq#3937, #4364).
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
    """The same, for who has more to set before it connects."""
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
    # the kernel asks a second time after 1 s, so that at any moment the next question is at most 1.1 s away
    socket.setsockopt(zmq.CONNECT_TIMEOUT, 1500)
    socket.setsockopt(zmq.RECONNECT_IVL, 100)
    socket.setsockopt(zmq.RECONNECT_IVL_MAX, 500)
    return socket
