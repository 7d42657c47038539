"""Both ends of the private link by hand: a peer of a real hub, and a hub's end for a real camera or worker."""

import select

from edged.hub.links.authentication import Rejections
from edged.hub.links.unix_link import UnixLink
from edged.messages import LinkMessage, decode
from edged.metrics import Metrics
from edged.transport.address import path_of
from edged.transport.unix_connection import UnixConnection, listen
from tests.eventually import LIMIT_MS


def is_readable(descriptor: int, within_ms: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(within_ms))


class PeerEnd:
    """The peer `name` of the hub at `address`."""

    def __init__(self, address: str, name: str) -> None:
        self.connection = UnixConnection.to(path_of(address), queued=64)
        self.connection.send([name.encode()])

    def send(self, *parts: bytes) -> None:
        assert self.connection.send(parts)

    def poll(self, within_ms: float) -> bool:
        return is_readable(self.connection.fileno(), within_ms)

    def receive(self) -> list[bytes]:
        """Wait for the next message. Raises ConnectionError if the hub has closed the connection."""
        while (parts := self.connection.receive()) is None:
            assert self.poll(LIMIT_MS), "no message"
        return [bytes(part) for part in parts]

    def message(self) -> LinkMessage:
        """Wait for the next message, whatever its payloads are."""
        return decode(self.receive()[0])

    def close(self) -> None:
        self.connection.close(linger_s=0.5)


def unix_link(address: str) -> UnixLink:
    """A hub's end of the link; its rejections are counted nowhere else."""
    return UnixLink(address, Rejections(Metrics("test").peers_rejected))


class HubEnd:
    """A hub's end of the link at `address`, for one camera or worker, which may connect again."""

    def __init__(self, address: str) -> None:
        self.peer = ""  # its name, once it has connected
        self._path = path_of(address)
        self._listener = listen(self._path)
        self._connection: UnixConnection | None = None

    def send(self, *parts: bytes) -> None:
        """To the peer that has connected; what they are is up to the test."""
        assert self._connection
        assert self._connection.send(parts)

    def receive(self, within_ms: float = LIMIT_MS) -> list[bytes] | None:
        """Wait for the next message; None if none comes in time."""
        while (parts := self._parts()) is None:
            if not is_readable((self._connection or self._listener).fileno(), within_ms):
                return None
        return [bytes(part) for part in parts]

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        self._listener.close()
        if self._connection:
            self._connection.close(linger_s=0.5)

    def _parts(self) -> list[memoryview] | None:
        if self._connection is None:
            if not is_readable(self._listener.fileno(), 0):
                return None
            self._connection = UnixConnection(self._listener.accept()[0], queued=64)
        try:
            parts = self._connection.receive()
        except ConnectionError:
            self._connection.close()
            self._connection, self.peer = None, ""
            return None
        if parts and not self.peer:
            self.peer = bytes(parts[0]).decode()
            return self._parts()
        return parts
