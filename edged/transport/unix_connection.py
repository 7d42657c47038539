"""Messages of several parts over a Unix socket between two processes of a host.

The kernel keeps the bounds of packets (SOCK_SEQPACKET, unix(7)), so that most messages take one system call at
each end, and no thread. ZeroMQ does more than a host's own links need: each message passes an I/O thread at both
ends, which is woken and wakes.
"""

import errno
import select
import socket
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Self

from edged.errors import MessageError

Part = bytes | memoryview

# bytes of a packet: from 84 kB on the kernel wants more than four neighbouring pages, which a board may lack
PACKET = 80 << 10
LARGEST_BYTES = 1 << 30  # of a message: 16384 × 16384 × 3, the largest input that a config allows
MOST_PARTS = 1000  # with the header fewer than the kernel takes at once (IOV_MAX)
SEND_BUFFER = 1 << 19  # bytes in the kernel; by default it allows less
BACKLOG = 1024  # connections that wait to be accepted

_NUMBER = struct.Struct("=I")


def listen(path: Path) -> socket.socket:
    """Return a socket that listens at `path`, which must not exist. Raises OSError."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    try:
        listener.bind(str(path))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class UnixConnection:
    """One end of a connection. A message is sent whole, or not at all.

    unsent: messages that wait for room, of the first one perhaps only the rest. Call `flush` when it is writable.
    """

    def __init__(self, connected: socket.socket, queued: int) -> None:
        """`connected`: of kind SOCK_SEQPACKET; `queued`: messages that may wait here if the kernel has no room."""
        connected.setblocking(False)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self._socket = connected
        self._queued = queued
        self.unsent: deque[memoryview] = deque()
        self._received: list[bytes] = []  # packets of a message that is not complete
        self._sizes: Sequence[int] = ()  # bytes of its parts
        self._missing = 0  # bytes of it that have not come

    @classmethod
    def to(cls, path: Path, queued: int) -> Self:
        """Connect to the socket at `path`. Raises OSError if nobody listens there, or too many wait."""
        connecting = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        try:
            connecting.connect(str(path))
        except OSError:
            connecting.close()
            raise
        return cls(connecting, queued)

    def fileno(self) -> int:
        """Return the descriptor, which is readable when there is a message or the other end has closed."""
        return self._socket.fileno()

    def peer_process(self) -> int:
        """Return the id of the process at the other end, as of its connection."""
        process, _, _ = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return int(process)

    def send(self, parts: Sequence[Part]) -> bool:
        """Send a message or keep it until there is room; return False if neither is possible. Never waits."""
        message: list[Part] = [struct.pack(f"={1 + len(parts)}I", len(parts), *map(_bytes_of, parts)), *parts]
        if not self.flush() and len(self.unsent) >= self._queued:
            return False
        is_small = sum(map(_bytes_of, message)) <= PACKET
        packets: deque[Sequence[Part]] = deque([message] if is_small else _packets(message))
        try:
            while not self.unsent and packets and self._is_sent(packets[0]):
                packets.popleft()
        except OSError:
            return False
        if packets:
            self.unsent.append(memoryview(b"".join(chain.from_iterable(packets))))
        return True

    def flush(self, within_s: float = 0.0) -> bool:
        """Send what waits for room, for so long; return whether nothing waits any more."""
        end_s = monotonic() + within_s
        try:
            while self.unsent:
                if self._is_sent([self.unsent[0][:PACKET]]):
                    rest = self.unsent.popleft()[PACKET:]
                    if rest:
                        self.unsent.appendleft(rest)
                elif (left_s := end_s - monotonic()) <= 0 or not self._is_writable(left_s):
                    return False
        except OSError:  # closed: `receive` raises
            return False
        return True

    def has_room(self, within_s: float = 0.0) -> bool:
        """Wait for so long until the next message need not wait here, and return whether that is so."""
        end_s = monotonic() + within_s
        return self.flush(within_s) and self._is_writable(end_s - monotonic())

    def receive(self) -> list[memoryview] | None:
        """Return the parts of the next message, or None if there is none now.

        Raises ConnectionError once the other end has closed and everything was read, MessageError for a message
        that is malformed or too large: the connection is of no use after that.
        """
        while (packet := self._packet()) is not None:
            if not packet:
                raise ConnectionAbortedError("the other end has closed the connection")
            if not self._received:
                self._sizes = _sizes(packet)
                self._missing = _begin(self._sizes) + sum(self._sizes)
            self._received.append(packet)
            self._missing -= len(packet)
            if self._missing <= 0:
                return self._pop_received()
        return None

    def close(self, linger_s: float = 0.0) -> None:
        """Send what waits for room, for so long, and close. What was sent can still be read at the other end."""
        self.flush(linger_s)
        self._socket.close()

    def _is_sent(self, packet: Sequence[Part]) -> bool:
        """Send a packet; return False if there is no room for it. Raises OSError if the other end has closed."""
        try:
            self._socket.sendmsg(packet, [], socket.MSG_NOSIGNAL)
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.ENOBUFS}:
                raise
            return False
        return True

    def _is_writable(self, within_s: float) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT)
        return bool(poll.poll(max(0.0, 1000 * within_s)))

    def _packet(self) -> bytes | None:
        try:
            return self._socket.recv(PACKET)
        except BlockingIOError:
            return None
        except ConnectionResetError:  # raised once if it has left messages unread; its own can still be read
            return self._packet()

    def _pop_received(self) -> list[memoryview]:
        packets, self._received = self._received, []
        message = packets[0] if len(packets) == 1 else b"".join(packets)
        if self._missing < 0:
            raise MessageError(f"a message has {-self._missing} bytes more than it announced")
        parts, content, begin = [], memoryview(message), _begin(self._sizes)
        for size in self._sizes:
            parts.append(content[begin : begin + size])
            begin += size
        return parts


def _bytes_of(part: Part) -> int:
    return part.nbytes if isinstance(part, memoryview) else len(part)


def _packets(message: Sequence[Part]) -> Iterator[list[memoryview]]:
    """Divide a message into packets of `PACKET` bytes; the last one has what is left."""
    packet: list[memoryview] = []
    room = PACKET
    for part in message:
        if not _bytes_of(part):
            continue  # an empty view has no other shape
        view = memoryview(part).cast("B")
        while len(view) > room:
            yield [*packet, view[:room]]
            view, packet, room = view[room:], [], PACKET
        packet.append(view)
        room -= len(view)
    yield packet


def _begin(sizes: Sequence[int]) -> int:
    """Return where the first part begins: behind the number of parts and their sizes."""
    return _NUMBER.size * (1 + len(sizes))


def _sizes(packet: bytes) -> Sequence[int]:
    """Return the bytes of each part, from a message's first packet. Raises MessageError."""
    count = _NUMBER.unpack_from(packet)[0] if len(packet) >= _NUMBER.size else 0
    if not 1 <= count <= MOST_PARTS or _NUMBER.size * (1 + count) > len(packet):
        raise MessageError("what was sent is not a message of edged's links")
    sizes = struct.unpack_from(f"={count}I", packet, _NUMBER.size)
    if sum(sizes) > LARGEST_BYTES:
        raise MessageError(f"a message has {sum(sizes)} bytes; at most {LARGEST_BYTES} are allowed")
    return sizes
