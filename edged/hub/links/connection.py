"""Watch one peer's connection from outside: how much it sends, and whether it still reads."""

import contextlib
import fcntl
import os
import select
import socket
import struct
import termios
from dataclasses import dataclass

from edged.clock import NANOSECONDS, seconds_since
from edged.transport.address import host_and_port, is_ipc

STALLED_NS = 5 * NANOSECONDS  # without a read; heartbeats drop most such connections after 3 s

_ACKED_AND_RECEIVED = struct.Struct("=QQ")  # of linux/tcp.h's tcp_info, since Linux 4.1
_AT = 120
_OF_LINUX_4_1 = _AT + _ACKED_AND_RECEIVED.size
_LAST_DATA_RECEIVED_AT = 52  # milliseconds ago
_ESTABLISHED = 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a peer of an endpoint may send: `burst` bytes, and so many a second; in all, `lifetime` of them.

    `together`: the bytes that all together may send beyond the usual ones of each; the largest sender is
    disconnected first.
    """

    burst: int
    a_second: int
    lifetime: int | None
    connections: int
    usual: int = 0
    together: int | None = None


@dataclass(frozen=True, slots=True)
class Handshake:
    """Bytes of a subscriber's handshake with libzmq 4.3.5, without a name or other metadata.

    `sent`: by us, before it is admitted; `received`: by us, in all; `heartbeats`: received each second after it.
    """

    sent: int
    received: int
    heartbeats: int


PLAIN = Handshake(sent=64, received=91, heartbeats=16)
ENCRYPTED = Handshake(sent=234, received=551, heartbeats=82)


class Connection:
    """A duplicate of libzmq's descriptor, so that it refers to this connection until `close`."""

    def __init__(self, descriptor: int, address: str, now_ns: int) -> None:
        """`address`: ours. Raises OSError if the connection is already closed.

        Then its number may belong to another descriptor of this process, which is none of ours to judge.
        """
        self._is_tcp = not is_ipc(address)
        self._socket = _duplicate(descriptor)
        self._since_ns = now_ns
        self._acked = -1
        self._received = 0
        self._moved_ns = now_ns
        self._admitted_ns: int | None = None
        self._has_subscribed = False
        self.is_cut = False
        try:
            self.host = self._peer(address)
        except OSError:
            self._socket.close()
            raise

    def _peer(self, address: str) -> str:
        """Describe the peer. Raises OSError if the descriptor is no connection of our address."""
        name = self._socket.getsockname()
        ours = name[1] == host_and_port(address)[1] if self._is_tcp else name == address.removeprefix("ipc://")
        if not ours:
            raise OSError("another descriptor has its number now")
        if self._is_tcp:
            return str(self._socket.getpeername()[0])
        process, *_ = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return f"process {process}"

    def fault(self, bounds: Bounds, now_ns: int) -> str:
        """Return why it must be disconnected, or an empty text. Only TCP counts its bytes."""
        acked, received = self._bytes()
        if received != self._received:
            self._received = received
            if received > self._allowed(bounds):
                return "too_much"
        if acked != self._acked:
            self._acked, self._moved_ns = acked, now_ns
        elif now_ns - self._moved_ns > STALLED_NS and self._is_tcp:
            if self._waiting():
                return "stalled"
            self._moved_ns = now_ns
        return ""

    def unusual_bytes(self, bounds: Bounds) -> float:
        """Return the bytes beyond the usual ones, as of the last `fault`; 0 for one that was disconnected."""
        if self.is_cut or self._received <= bounds.usual:  # of a thousand, almost all
            return 0.0
        usual = bounds.usual + bounds.a_second * seconds_since(self._since_ns)
        return max(0.0, self._received - usual)

    def silent_s(self, handshake: Handshake, now_ns: int) -> float | None:
        """Return the seconds since it was admitted, as of the last `fault`; None unless it has not subscribed."""
        if self._has_subscribed or self.is_cut or self._acked <= handshake.sent:
            return None
        self._admitted_ns = self._admitted_ns or now_ns
        seconds = (now_ns - self._admitted_ns) / NANOSECONDS
        self._has_subscribed = self._received > handshake.received + round(seconds) * handshake.heartbeats
        return None if self._has_subscribed else seconds

    def _allowed(self, bounds: Bounds) -> float:
        allowed = bounds.burst + bounds.a_second * seconds_since(self._since_ns)
        return min(allowed, bounds.lifetime or allowed)

    def why_dropped(self) -> str:
        """Return why libzmq has closed the connection; empty if the peer closed it."""
        if not self._is_tcp:
            return "" if self._has_hung_up() else "stalled" if self._waiting() else "malformed"
        info = self._info()
        if info[0] != _ESTABLISHED:
            return ""
        (silent_ms,) = struct.unpack_from("=I", info, _LAST_DATA_RECEIVED_AT)
        return "stalled" if silent_ms > 2000 else "malformed"

    def cut(self) -> None:
        """Shut the connection down; libzmq then detects its end and frees its memory."""
        self.is_cut = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()

    def _bytes(self) -> tuple[int, int]:
        info = self._info()
        if len(info) < _OF_LINUX_4_1:
            return 0, 0
        acked, received = _ACKED_AND_RECEIVED.unpack_from(info, _AT)
        return acked, received

    def _info(self) -> bytes:
        return self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192) if self._is_tcp else b""

    def _has_hung_up(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, 0)
        return bool(poll.poll(0))

    def _waiting(self) -> int:
        (waiting,) = struct.unpack("i", fcntl.ioctl(self._socket, termios.TIOCOUTQ, b"\0" * 4))
        return int(waiting)


def _duplicate(descriptor: int) -> socket.socket:
    """Duplicate a descriptor. Raises OSError if it is closed, or no socket."""
    duplicate = os.dup(descriptor)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise
