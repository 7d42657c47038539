"""Accept connections for uvicorn, which has no time-out for a TLS handshake, a request or a response.

Peers that are disconnected or refused are counted, and logged without a flood.
"""

import asyncio
import logging
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal, get_args

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from edged.web.limits import ConnectionLimits, displaced_by, network_of

log = logging.getLogger("edged.web")

Reason = Literal["slow", "silent", "stalled", "too_many", "malformed", "not_tls", "wrong_password", "guessing"]

TEXTS: dict[Reason, str] = {
    "slow": "disconnected: it did not finish its request in time",
    "silent": "disconnected: it sent no request",
    "stalled": "disconnected: it does not read the response",
    "too_many": "disconnected to make room for a new connection: no address has more",
    "malformed": "disconnected: it sent an invalid HTTP request",
    "not_tls": "disconnected: its TLS handshake failed, or it has no certificate of the client CA",
    "wrong_password": "sent a wrong password",
    "guessing": "sent too many wrong passwords: refused for a while",
}
QUIET: frozenset[Reason] = frozenset({"silent"})  # browsers connect in advance
AGAIN_S = 60.0  # seconds between two lines for the same address and reason
LINES = 5  # at most, each time that lines are written
MOST_HOSTS = 100

WRITE_BUFFER = 32_768  # bytes of responses in this process, and as many in the kernel, for a slow reader
RETRY_S = 0.1  # seconds after an error of the kernel, such as no more file descriptors


class Disconnections:
    """Counts disconnections by reason, and collects those that are not logged yet."""

    def __init__(self, server: str) -> None:
        """`server`: its name in the log."""
        self._server = server
        self.totals: Counter[Reason] = Counter(dict.fromkeys(get_args(Reason), 0))
        self._unlogged: Counter[tuple[Reason, str]] = Counter()
        self._logged_s: dict[tuple[Reason, str], float] = {}

    def add(self, reason: Reason, host: str) -> None:
        """Count one of the address `host`."""
        self.totals[reason] += 1
        key = (reason, host)
        is_known = key in self._unlogged or len(self._unlogged) < MOST_HOSTS
        self._unlogged[key if is_known else (reason, "other addresses")] += 1

    def write_log(self, now_s: float) -> None:
        """Log new ones: a line for each address and reason, with its count, once a minute."""
        self._logged_s = {key: at for key, at in self._logged_s.items() if now_s - at < AGAIN_S}
        due = [key for key in self._unlogged if key not in self._logged_s][:LINES]
        for reason, host in due:
            self._logged_s[reason, host] = now_s
            self._write_line(reason, host, self._unlogged.pop((reason, host)))

    def close(self) -> None:
        """Log all that remain."""
        for (reason, host), times in self._unlogged.items():
            self._write_line(reason, host, times)
        self._unlogged.clear()

    def _write_line(self, reason: Reason, host: str, times: int) -> None:
        level = logging.DEBUG if reason in QUIET else logging.WARNING
        log.log(level, "%s: %s: %s%s", self._server, host, TEXTS[reason], f" ({times} times)" if times > 1 else "")


class WebConnection(H11Protocol):
    """A connection of uvicorn that records since when it waits for its peer; seconds are monotonic."""

    def __init__(
        self,
        server: uvicorn.Server,
        host: str,
        report: Callable[[Reason, str], None],
        ended: Callable[["WebConnection"], None],
    ) -> None:
        """`report`: called with a fault of the peer; `ended`: called once the connection has ended."""
        super().__init__(server.config, server.server_state, app_state={"connection": self})
        self.host = host
        self.is_trusted = False  # has sent the password
        self._report = report
        self._ended = ended
        self._begun_s = time.monotonic()
        self._request_since_s: float | None = self._begun_s  # None: no part of a request is awaited
        self._is_new = True
        self._unread = 0  # bytes
        self._unread_since_s = self._progress_s = self._begun_s

    @property
    def rank(self) -> tuple[int, float]:
        """Return its rank: those with the password first, then those that sent a request, then the youngest."""
        return 2 * self.is_trusted + (self._request_since_s is None), self._begun_s

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request from now on; a TLS handshake, if any, has succeeded."""
        transport.set_write_buffer_limits(high=WRITE_BUFFER)
        self._request_since_s = time.monotonic()
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._ended(self)

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request, a whole one or several."""
        self._is_new = False
        super().data_received(data)
        self._note_request()

    def on_response_complete(self) -> None:
        """Check whether the next request is here already."""
        super().on_response_complete()
        self._note_request()

    def send_400_response(self, msg: str) -> None:
        """Close the connection: the data are not HTTP."""
        self._report("malformed", self.host)
        super().send_400_response(msg)

    def fault(self, limits: ConnectionLimits, now_s: float) -> Reason | None:
        """Return why this connection must be closed now; empty if not. It is called repeatedly."""
        if self._request_since_s is not None and now_s - self._request_since_s > limits.request_s:
            return "silent" if self._is_new else "slow"
        unread = self.transport.get_write_buffer_size()
        if not self._unread:
            self._unread_since_s = now_s
        if not self._unread or unread < self._unread:
            self._progress_s = now_s
        self._unread = unread
        is_stalled = now_s - self._progress_s > limits.stalled_s or now_s - self._unread_since_s > limits.drain_s
        return "stalled" if is_stalled else None

    def _note_request(self) -> None:
        """Record whether part of a request has arrived and the rest is awaited."""
        state = self.conn.their_state
        if state is h11.SEND_BODY or (state is h11.IDLE and self.conn.trailing_data[0]):
            self._request_since_s = self._request_since_s or time.monotonic()
        else:
            self._request_since_s = None


class ConnectionServer:
    """Accepts connections, and closes those that exceed the limits."""

    def __init__(
        self,
        listener: socket.socket,
        tls: ssl.SSLContext | None,
        limits: ConnectionLimits,
        disconnections: Disconnections,
    ) -> None:
        listener.setblocking(False)
        # connections inherit both; without the second a response, written in two parts, waits 40 ms between them
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, WRITE_BUFFER)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._listener = listener
        self._tls = tls
        self._limits = limits
        self._disconnections = disconnections
        self._open: dict[WebConnection, asyncio.Task[None]] = {}
        self._room = asyncio.Event()  # for one more connection
        self._room.set()

    async def accept(self, server: uvicorn.Server) -> None:
        """Accept connections for `server`, until cancelled."""
        while True:
            await self._room.wait()
            try:
                accepted, address = await asyncio.get_running_loop().sock_accept(self._listener)
                self._admit(server, accepted, network_of(str(address[0])))
                await asyncio.sleep(0)  # otherwise it would not start while more connections wait to be accepted
            except OSError as error:
                log.warning("no connection can be accepted: %s", error.strerror)
                await asyncio.sleep(RETRY_S)

    async def watch(self) -> None:
        """Check all connections repeatedly, until cancelled."""
        while True:
            await asyncio.sleep(self._limits.look_s)
            now_s = time.monotonic()
            for connection in list(self._open):
                if connection.transport and (fault := connection.fault(self._limits, now_s)):
                    self._end(connection, fault)
            self._disconnections.write_log(now_s)

    def close(self) -> None:
        """Close the listener, after the end of both loops."""
        self._listener.close()
        self._disconnections.close()

    def _admit(self, server: uvicorn.Server, accepted: socket.socket, host: str) -> None:
        displaced = displaced_by(host, self._open, self._limits.connections, self._limits.connections_each)
        if displaced:
            self._end(displaced, "too_many")
        connection = WebConnection(server, host, self._disconnections.add, self._forget)
        self._open[connection] = asyncio.create_task(self._begin(accepted, connection))
        if not self._limits.displaces and len(self._open) >= self._limits.connections:
            self._room.clear()

    async def _begin(self, accepted: socket.socket, connection: WebConnection) -> None:
        """Start a connection, with the TLS handshake if configured."""
        limits = self._limits
        loop = asyncio.get_running_loop()
        try:
            if self._tls is None:
                await loop.connect_accepted_socket(lambda: connection, accepted)
                return
            await loop.connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._tls,
                ssl_handshake_timeout=limits.handshake_s,
                ssl_shutdown_timeout=limits.stalled_s,
            )
        except OSError:  # ssl.SSLError is one, and so is asyncio's error after the time-out
            self._disconnections.add("not_tls", connection.host)
            self._forget(connection)

    def _end(self, connection: WebConnection, reason: Reason) -> None:
        self._disconnections.add(reason, connection.host)
        if connection.transport:
            connection.transport.abort()
        else:
            self._open[connection].cancel()  # it closes the socket
        self._forget(connection)

    def _forget(self, connection: WebConnection) -> None:
        self._open.pop(connection, None)
        self._room.set()
