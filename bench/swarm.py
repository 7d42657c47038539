"""Simulated cameras and workers, many to a process, cheap enough not to be what is measured.

They report no time that they do not spend: a frame is captured when it is sent, and a worker answers at once.
"""

import heapq
import math
import select
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import zmq

from edged.messages import (
    CameraCount,
    CameraHello,
    CameraReport,
    Grant,
    Job,
    ModelInfo,
    Score,
    Scores,
    WorkerHello,
    decode,
    encode,
)
from edged.transport.address import is_private_link, path_of
from edged.transport.client_socket import Curve, curve_of, unconnected
from edged.transport.unix_connection import UnixConnection

SIDE = 120
RETRY_S = 0.02
PIXELS = bytes(SIDE * SIDE * 3)
MODEL = ModelInfo(name="null", sha256="0" * 64, labels=tuple("0123456789"), width=SIDE, height=SIDE)
TOP = tuple(Score(index=index, score=0.1) for index in range(5))


class PrivateSocket:
    """A connection to the hub's private link, with what is used here of a ZeroMQ socket."""

    def __init__(self, address: str, name: str) -> None:
        self._connection = _unix_connection(path_of(address))
        self._connection.send([name.encode()])
        self._poll = select.poll()
        self._poll.register(self._connection.fileno(), select.POLLIN)

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, header: bytes) -> None:
        self.send_multipart([header])

    def send_multipart(self, parts: Sequence[bytes], _flags: int = 0, *, copy: bool = False) -> None:
        if not self._connection.send(parts):
            raise zmq.Again

    def recv_multipart(self) -> Sequence[bytes | memoryview]:
        """Wait for the next message. Raises ConnectionError if the hub has closed the link."""
        while (parts := self._connection.receive()) is None:
            self._poll.poll()
        return parts


Socket = zmq.Socket[bytes] | PrivateSocket


def _unix_connection(path: Path) -> UnixConnection:
    """Connect as soon as a hub listens at `path`, as ZeroMQ does by itself."""
    while True:
        try:
            return UnixConnection.to(path, queued=1)
        except OSError:
            time.sleep(RETRY_S)


def cameras(address: str, count: int, fps: float, keys: Path | None) -> None:
    """So many cameras, `c0` and on, for ever; where `fps` is infinite, they give what the hub grants."""
    sockets = [_connected(address, f"camera/c{index}", keys) for index in range(count)]
    for index, socket in enumerate(sockets):
        nothing = CameraCount(captured=0, dropped={})
        socket.send(encode(CameraHello(camera=f"c{index}", run="1", count=nothing, awaits_grants=math.isinf(fps))))
        socket.send(encode(CameraReport(camera=f"c{index}", up=True, count=nothing)))
    if math.isinf(fps):
        _as_granted(sockets)
    for socket in sockets:
        while b"capture" not in bytes(socket.recv_multipart()[0]):
            pass
    sent = [0] * count
    start = time.monotonic()
    due = [(start + index / count / fps, index) for index in range(count)]
    heapq.heapify(due)
    while True:
        at, index = heapq.heappop(due)
        if (wait_s := at - time.monotonic()) > 0:
            time.sleep(wait_s)
        sent[index] += 1
        try:
            sockets[index].send_multipart([_frame(index, sent[index]), PIXELS], zmq.NOBLOCK, copy=False)
        except zmq.Again:
            sent[index] -= 1
        heapq.heappush(due, (max(at + 1 / fps, time.monotonic() - 1), index))


def _as_granted(sockets: list[Socket]) -> None:
    index_of, sent = {socket: index for index, socket in enumerate(sockets)}, Counter[int]()
    for socket in _readable(sockets):
        message, index = decode(socket.recv_multipart()[0]), index_of[socket]
        for _ in range(message.frames if isinstance(message, Grant) else 0):
            sent[index] += 1
            socket.send_multipart([_frame(index, sent[index]), PIXELS], copy=False)


def workers(address: str, count: int, batch: int, keys: Path | None) -> None:
    """So many workers that answer at once, for ever."""
    sockets, host = [], None if is_private_link(address) else "swarm"
    for index in range(count):
        name = f"{host or 'local'}-{index}"
        socket = _connected(address, f"worker/{name}", keys)
        hello = WorkerHello(
            worker=name,
            device="null",
            host=host or "",
            precision="fp32",
            batch=batch,
            credit=2,
            model=MODEL,
            energy="none",
        )
        socket.send(encode(hello))
        sockets.append(socket)
    for socket in _readable(sockets):
        job = decode(socket.recv_multipart()[0])
        if isinstance(job, Job):
            socket.send(encode(_scores(job)))


def _readable(sockets: Iterable[Socket]) -> Iterator[Socket]:
    """Yield the sockets that have a message, for ever."""
    poller, by_key = zmq.Poller(), dict[object, Socket]()
    for socket in sockets:
        key = socket.fileno() if isinstance(socket, PrivateSocket) else socket
        by_key[key] = socket
        poller.register(key, zmq.POLLIN)
    while True:
        for key, _ in poller.poll():
            yield by_key[key]


def _scores(job: Job) -> Scores:
    return Scores(job=job.job, frames=(TOP,) * job.frames, upload_s=0.0, forward_s=0.0, download_s=0.0)


def _frame(index: int, number: int) -> bytes:
    """What `encode(Frame(…))` would give, at a fraction of its cost."""
    return (
        f'{{"kind":"frame","camera":"c{index}","frame":{number - 1},"captured_at":{time.time()},'
        f'"captured_ns":{time.monotonic_ns()},"clock_error_s":0.0,"capture_s":0.0,"preprocess_s":0.0,'
        f'"width":{SIDE},"height":{SIDE},"truth":null,"count":{{"captured":{number},"dropped":{{}}}}}}'
    ).encode()


def _connected(address: str, name: str, keys: Path | None) -> Socket:
    if is_private_link(address):
        return PrivateSocket(address, name)
    curve: Curve | None = curve_of(keys / "swarm.key", keys / "hub.pub") if keys else None
    socket = unconnected(zmq.Context.instance(), zmq.DEALER, address, 100, curve)
    socket.setsockopt(zmq.IDENTITY, name.encode())
    socket.setsockopt(zmq.SNDHWM, 2 if name.startswith("camera") else 100)
    socket.connect(address)
    return socket
