"""A network between a camera and us that breaks, holds everything back, or spoils it, when told to."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

SPARED = 16384  # so many bytes from the server, the handshake and about a second, are never spoilt
RESET = struct.pack("ii", 1, 0)  # linger on, for no time


class Proxy:
    """Passes TCP connections on to a port of this host. What it swallows comes later, as TCP promises."""

    def __init__(self, server_port: int) -> None:
        self._server = ("127.0.0.1", server_port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._passes = threading.Event()
        self._passes.set()
        self._sockets: list[socket.socket] = []
        self._counting = threading.Lock()
        self.passed = 0  # bytes, both ways
        self.spoil_every = 0  # bytes from the server, of which one gets a flipped bit; 0: none
        threading.Thread(target=self._accept, daemon=True).start()

    def swallow(self) -> None:
        """Nothing gets through, and nobody is told."""
        self._passes.clear()

    def let_through(self) -> None:
        """What was held back, and all that follows."""
        self._passes.set()

    @contextmanager
    def swallowing(self) -> Iterator[None]:
        """As long as this lasts."""
        self.swallow()
        yield
        self.let_through()

    def cut(self, reset: bool = False) -> None:
        """Break every connection there is, with a proper end or without; the next ones get through."""
        broken, self._sockets = self._sockets, []
        for each in broken:
            with suppress(OSError):  # it has ended by itself
                if reset:
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                each.shutdown(socket.SHUT_RD)  # who waits for it wakes up, and closes it

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                viewer = self._listener.accept()[0]
                self._sockets.append(viewer)
                threading.Thread(target=self._join, args=[viewer], daemon=True).start()

    def _join(self, viewer: socket.socket) -> None:
        try:
            server = socket.create_connection(self._server)
        except OSError:
            viewer.close()
            return
        self._sockets.append(server)
        threading.Thread(target=self._pass_on, args=[viewer, server], daemon=True).start()
        self._pass_on(server, viewer, spoils=True)

    def _pass_on(self, source: socket.socket, target: socket.socket, spoils: bool = False) -> None:
        passed = 0
        with suppress(OSError):
            while data := source.recv(65536):
                self._passes.wait()
                spoilt = spoils and self.spoil_every and passed > SPARED
                target.sendall(self._spoilt(data, passed) if spoilt else data)
                passed += len(data)
                with self._counting:
                    self.passed += len(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RD)  # `close` alone wakes nobody who waits for it
            end.close()

    def _spoilt(self, data: bytes, passed: int) -> bytes:
        spoilt = bytearray(data)
        for place in range(-passed % self.spoil_every, len(data), self.spoil_every):
            spoilt[place] ^= 1 << (passed + place) % 8
        return bytes(spoilt)

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_: object) -> None:
        self._passes.set()
        self._listener.close()
        for each in self._sockets:
            each.close()
