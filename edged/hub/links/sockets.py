"""Sockets that other programs connect to, multipart messages, and the limit of open files.

Multipart messages cost a third of what pyzmq's own functions do, which make an enum of each flag.
"""

import os
import resource
import socket as sockets
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import zmq

from edged.errors import ConfigError
from edged.hub.links.connection import Bounds
from edged.hub.links.guard import Guard
from edged.transport.address import host_and_port, is_ipc, is_ipv6
from edged.transport.client_socket import by_heartbeats

LARGEST_MESSAGE = 1024  # bytes that a subscriber (a topic) or a replay client may send at once
RECEIVE_BUFFER = 2304  # bytes in the kernel, the least that it has: what a flood sends ahead, libzmq must read
LARGEST_BUFFER = 1_048_576  # a frame and its header
SEND_BUFFER = 262_144
# 64 topics of 60 bytes, encrypted; then heartbeats. Topics cost libzmq time: a microsecond each to subscribe,
# and when a subscriber leaves, some nanoseconds for each byte of all others' topics. See `handshakes`, too.
SUBSCRIBER = Bounds(burst=8192, a_second=128, lifetime=None, connections=1000, usual=1024, together=1 << 16)
# 100 requests and 100 a second, of at most a megabyte of answers each
REPLAYER = Bounds(burst=16_384, a_second=16_384, lifetime=1 << 22, connections=1000)

# libzmq's I/O threads of the hub, as bits of ZMQ_AFFINITY (zmq_setsockopt(3)). A crowd that fetches the journal
# keeps one busy: frames and live predictions, on the other, do not wait behind its pages.
IO_THREADS = 2
LIVE_THREAD, REPLAY_THREAD = 1 << 0, 1 << 1

OTHERS = Bounds(burst=1 << 32, a_second=1 << 30, lifetime=None, connections=1000)  # frames, from peers with a key


def bind(
    context: zmq.Context[zmq.Socket[bytes]],
    kind: int,
    key: str,
    address: str,
    queued: int,
    guard: Guard | None = None,
    *,
    bounds: Bounds,
    largest: int = LARGEST_MESSAGE,
    notice: Callable[[zmq.Socket[bytes]], None] = by_heartbeats,
    io_thread: int = LIVE_THREAD,
) -> zmq.Socket[bytes]:
    """Bind a socket to `address`, the config's `key`, guarded by `guard`. Raises ConfigError.

    A peer may send `bounds`, and a message of `largest` bytes. `notice`: how lost peers are detected. `io_thread`:
    see `serve_in`.
    """
    socket = context.socket(kind)
    serve_in(io_thread, socket, context)
    _set_options(socket, kind, queued, largest)
    # A full queue stops the reading of a connection, and libzmq 4.3.5 may abort where that breaks then and its
    # peer has sent a heartbeat (zeromq/libzmq#4364). The guard bounds what strangers may send over TCP.
    socket.setsockopt(zmq.RCVHWM, queued if bounds == OTHERS or is_ipc(address) else 0)
    socket.setsockopt(zmq.IPV6, is_ipv6(address))
    notice(socket)
    if guard:
        guard.admit(socket, key, address, bounds)
    try:
        if is_ipc(address):
            _bind_private(socket, key, address)
        else:
            socket.bind(_as_bound(address))
    except zmq.ZMQError as error:
        socket.close()
        raise ConfigError(unusable(key, address, error.errno, error.strerror)) from None
    return socket


def serve_in(io_thread: int, socket: zmq.Socket[bytes], context: zmq.Context[zmq.Socket[bytes]]) -> None:
    """Serve the connections of a socket by this I/O thread, if the context has more than one."""
    if context.get(zmq.IO_THREADS) == IO_THREADS:
        socket.setsockopt(zmq.AFFINITY, io_thread)


def _set_options(socket: zmq.Socket[bytes], kind: int, queued: int, largest: int) -> None:
    if kind == zmq.ROUTER:
        socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        socket.setsockopt(zmq.ROUTER_HANDOVER, 1)  # a peer that reconnects takes over its name
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.SNDHWM, queued)
    socket.setsockopt(zmq.RCVBUF, max(RECEIVE_BUFFER, min(largest, LARGEST_BUFFER)))
    socket.setsockopt(zmq.SNDBUF, SEND_BUFFER)
    socket.setsockopt(zmq.MAXMSGSIZE, largest)
    socket.setsockopt(zmq.HANDSHAKE_IVL, 2000)  # milliseconds


def unusable(key: str, address: str, errno: int | None, reason: str | None) -> str:
    """Return the error for an address that cannot be bound."""
    if errno == zmq.EADDRINUSE:
        return f"{key}: {address} is in use: is another edged running? Stop it, or choose another port"
    return f"{key}: {address} cannot be used: {reason}"


def _as_bound(address: str) -> str:
    host, port = host_and_port(address)
    return f"tcp://[{host}]:{port}" if is_ipv6(address) else f"tcp://{host}:{port}"


def _bind_private(socket: zmq.Socket[bytes], key: str, address: str) -> None:
    """Bind an ipc socket for this user only. libzmq would remove any file; only a dead edged's socket may go."""
    path = Path(address.removeprefix("ipc://"))
    if path.exists() and not stat.S_ISSOCK(path.stat().st_mode):
        raise ConfigError(f"{key}: {path} is not a socket: choose another path, or remove it")
    if path.exists() and _somebody_listens(path):
        raise ConfigError(unusable(key, address, zmq.EADDRINUSE, None))
    umask = os.umask(0o177)
    try:
        socket.bind(address)
    finally:
        os.umask(umask)


def _somebody_listens(path: Path) -> bool:
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


NOW, MORE, READABLE = int(zmq.NOBLOCK), int(zmq.SNDMORE), int(zmq.POLLIN)

Part = bytes | memoryview | zmq.Frame


def receive_parts(socket: zmq.Socket[bytes]) -> list[zmq.Frame]:
    """Return the next message, uncopied; empty if there is none now."""
    if not int(socket.get(zmq.EVENTS)) & READABLE:
        return []
    parts = [socket.recv(NOW, copy=False)]
    while parts[-1].more:
        parts.append(socket.recv(NOW, copy=False))
    return parts


def send_parts(socket: zmq.Socket[bytes], parts: Sequence[Part]) -> None:
    """Send all parts, or nothing if it raises (zmq.Again: no room). Never waits."""
    for part in parts[:-1]:
        socket.send(part, NOW | MORE, copy=False)
    socket.send(parts[-1], NOW, copy=False)


WANTED = 8192  # a connection takes two, and about 3,000 are allowed; a login shell allows 1,024 in all


def allow_many_descriptors() -> None:
    """Raise the soft limit to the hard one; children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
