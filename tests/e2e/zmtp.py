"""ZMTP 3 (rfc.zeromq.org/spec/23) by hand, for peers that libzmq would never be."""

import select
import socket
import struct
import time
from contextlib import suppress
from urllib.parse import urlsplit

from tests.eventually import LIMIT_S

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
MORE = 1
COMMAND = 4
NETWORK = 1 << 27  # bytes a second, of gigabit Ethernet


def connected(address: str) -> socket.socket:
    """A plain connection to a `tcp://` or `host:port` address."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    return socket.create_connection((parts.hostname, parts.port))


def frame(body: bytes, flags: int = 0) -> bytes:
    """One frame; `flags`: MORE, COMMAND."""
    return header(len(body), flags) + body


def header(size: int, flags: int = 0) -> bytes:
    """Of a frame that claims to be of `size` bytes."""
    return bytes([flags, size]) if size < 256 else struct.pack(">BQ", flags | 2, size)


def ready(kind: str) -> bytes:
    """Greeting and READY of a socket of that kind."""
    properties = b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind.encode()
    return GREETING + frame(b"\x05READY" + properties, COMMAND)


def joined(address: str, kind: str) -> socket.socket:
    """A connection whose handshake as a socket of that kind has ended well."""
    peer = connected(address)
    peer.settimeout(LIMIT_S)
    peer.sendall(ready(kind))
    answer = b""
    while b"READY" not in answer:
        more = peer.recv(1024)
        assert more, "cut off in the handshake"
        answer += more
    return peer


def send_until_cut(peer: socket.socket, data: bytes, times: int) -> int:
    """How often `data` was sent before the other side had enough; who closes a full window sends no reset.

    As fast as over a network: on this host a gigabyte would come while the other side waits for a processor.
    """
    peer.setblocking(False)
    sent = 0
    begun_s = time.monotonic()
    with suppress(ConnectionError):
        while sent < times and _is_sent(peer, data):
            sent += 1
            time.sleep(max(0.0, begun_s + sent * len(data) / NETWORK - time.monotonic()))
    return sent


def _is_sent(peer: socket.socket, data: bytes) -> bool:
    """Send all of it; False once the other side has ended the connection."""
    left = memoryview(data)
    while left:
        readable, writable, _ = select.select([peer], [peer], [], LIMIT_S)
        assert readable or writable, "neither taken nor cut off"
        if readable and not peer.recv(65536):
            return False
        if writable:
            left = left[peer.send(left) :]
    return True


def is_cut(peer: socket.socket, within_s: float = LIMIT_S) -> bool:
    """Whether the other side ends the connection, whatever it says before."""
    peer.settimeout(within_s)
    try:
        while peer.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True
