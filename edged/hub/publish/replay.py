"""Answer subscribers that missed predictions, from the journal, or events, from memory."""

import ctypes
import logging
import os
import sqlite3
import time
import weakref
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import zmq

from edged.clock import NANOSECONDS, now_ns, seconds_since
from edged.hub.journal.reader import LAST, JournalReader, Page
from edged.hub.journal.schema import is_damage
from edged.hub.links.guard import Guard
from edged.hub.links.sockets import REPLAY_THREAD, REPLAYER, bind
from edged.hub.service_threads import ServiceThreads
from edged.messages import EventsAnswer, EventsRequest, ReplayAnswer, ReplayFailure, ReplayRequest
from edged.messages.message import INVALID_JSON, versions_of
from edged.messages.replay import Format

log = logging.getLogger("edged.hub")

ENDPOINT = "publish.replay"
QUEUED = 1  # answers that may wait for one subscriber
LARGEST_PAGE, SMALLEST_PAGE = 1 << 20, 1 << 15  # bytes of predictions in one answer
ALL_PAGES = 1 << 25  # bytes of all pages that recent subscribers may wait for, in memory
LEVEL = 1  # compression level: a fifth of the bytes, three times as fast as 6, which saves little more
SHRINKS = 4  # factor of compression at least
# a subscriber is recent for so long after a request; one that stalls is disconnected by then
RECENT_NS = 10 * NANOSECONDS
STALLED_NS = NANOSECONDS // 2  # a subscriber without room for an answer gets no other for so long
REST = 1.0  # pause after each answer, as a share of its time: the hub's loop needs the interpreter too
LONGEST_REST_S = 0.02
SERVED_MS = 200  # without a request: then nobody is fetching
STOP_S = 1.0
KEPT_PAGES = 32
KEPT_NS = 10 * NANOSECONDS  # how long a page may be sent again
SETTLED = 1000  # predictions before the newest one: older ones are never withdrawn
# the answer if there is no journal, so that the client does not wait
NOTHING = msgspec.json.encode(ReplayAnswer(predictions=0, first_kept=None, last_kept=None, next_seq=None))
FAILURE = msgspec.json.encode(ReplayFailure())


class Replay:
    """Serves replay requests in its own thread, so that live frames wait neither for it nor for its disk.

    Subscribers are served in turn, a page each; the more of them there are, the smaller are the pages. An answer
    for which there is no room, or whose subscriber has left, is dropped. If the journal cannot be read, a
    ReplayFailure is the answer; `suspect` gets the inode of a file that is damaged.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        address: str,
        reader: JournalReader,
        suspect: Callable[[int], None],
        services: ServiceThreads,
        guard: Guard | None = None,
        *,
        events: Callable[[], Sequence[bytes]] = tuple,
    ) -> None:
        """`events`: returns the newest events as JSON. Raises ConfigError if the address cannot be used."""
        self.answered = 0
        self._socket = bind(
            context, zmq.ROUTER, ENDPOINT, address, QUEUED, guard, bounds=REPLAYER, io_thread=REPLAY_THREAD
        )
        self._guard = guard
        self._reader = reader
        self._suspect = suspect
        self._events = events
        self._pages = Pages(reader)
        self._recent = RecentPeers()
        self._stopping = False
        self._stop_called = os.eventfd(0, os.EFD_CLOEXEC)  # wakes the thread at the end
        weakref.finalize(self, os.close, self._stop_called)
        self._thread = services.start("replay", self._run)  # from here on the thread owns the socket

    def stop(self) -> None:
        """Stop answering; do not wait for a disk that is stuck."""
        self._stopping = True
        os.eventfd_write(self._stop_called, 1)
        self._thread.join(STOP_S)

    def _run(self) -> None:
        try:
            self._serve_all()
        finally:
            self._pages.release()  # only the thread that opened a connection can use it
        self._socket.close()

    def _serve_all(self) -> None:
        has_served = False
        poller = zmq.Poller()
        for waited in (self._socket, self._stop_called):
            poller.register(waited, zmq.POLLIN)
        while not self._stopping:
            ready = dict(poller.poll(SERVED_MS if has_served else None))
            if self._socket in ready:
                start_ns = now_ns()
                self._serve()
                time.sleep(min(LONGEST_REST_S, REST * seconds_since(start_ns)))
                has_served = True
            elif not ready:
                has_served = False
                self._pages.release()
                give_memory_back()

    def _serve(self) -> None:
        peer, *parts = self._socket.recv_multipart(copy=False)
        if self._recent.is_stalled(peer.bytes, now_ns()):
            return
        inode = self._reader.inode()
        try:
            content = b"".join(part.bytes for part in parts)
            request = _request_in(content)
            if isinstance(request, EventsRequest):
                self._send(peer.bytes, _events_answer(self._events()))
                return
            most_bytes = page_bytes(self._recent.count(peer.bytes, now_ns()), request.format)
            answer = [NOTHING] if inode is None else self._pages.answer(request, most_bytes, inode)
            self._send(peer.bytes, answer)
        except INVALID_JSON:
            if problem := _problem_of(content):
                self._send(peer.bytes, [msgspec.json.encode(ReplayFailure(problem=problem))])
            elif self._guard:
                self._guard.reject(ENDPOINT, peer)
        except sqlite3.Error as error:
            log.warning("the journal cannot answer a replay request: %s", error)
            if is_damage(error) and inode is not None:
                self._suspect(inode)
            self._send(peer.bytes, [FAILURE])

    def _send(self, peer: bytes, answer: Sequence[bytes | zmq.Frame]) -> None:
        try:
            self._socket.send_multipart([peer, *answer], zmq.NOBLOCK, copy=False)
            self.answered += 1
        except zmq.ZMQError as error:
            if error.errno not in {zmq.EAGAIN, zmq.EHOSTUNREACH}:
                raise
            log.debug("an answer is dropped, its subscriber has left or does not read: %s", error)
            self._recent.stalls(peer, now_ns())


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A recently read page, its predictions in one message that is sent without copies."""

    header: bytes
    payload: zmq.Frame
    next_seq: int
    read_ns: int


class Pages:
    """Answers from the journal. If many fetch the same, each page is read once."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._kept: dict[tuple[object, ...], KeptPage] = {}  # by request; oldest first

    def answer(self, request: ReplayRequest, most_bytes: int, inode: int) -> list[bytes | zmq.Frame]:
        """Return header and predictions from the file with that inode. Raises sqlite3.Error."""
        first = min(request.first_seq or 0, LAST)
        last = LAST if request.last_seq is None else min(request.last_seq, LAST)
        if request.format == "payloads":
            page = self._reader.page(first, last, request.since, request.limit, most_bytes)
            return [_header(page), *page.predictions]
        key = (inode, first, request.limit, most_bytes, request.format)
        kept = self._kept.get(key) if request.since is None else None
        if kept and now_ns() - kept.read_ns < KEPT_NS and kept.next_seq <= last:
            return [kept.header, kept.payload]
        page = self._reader.page(first, last, request.since, request.limit, most_bytes)
        lines = b"\n".join(page.predictions)
        header = _header(page)
        payload = zmq.Frame(zlib.compress(lines, LEVEL) if request.format == "zlib" else lines, copy=True)
        if request.since is None and _is_settled(page):
            self._keep(key, KeptPage(header, payload, page.next_seq or 0, now_ns()))
        return [header, payload]

    def release(self) -> None:
        """Release the pages and the connection: no client is fetching."""
        self._kept.clear()
        self._reader.release()

    def _keep(self, key: tuple[object, ...], kept: KeptPage) -> None:
        self._kept.pop(key, None)
        while len(self._kept) >= KEPT_PAGES:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = kept


def _request_in(json: bytes) -> ReplayRequest | EventsRequest:
    """Read a request; one without a `kind` is for predictions. Raises what INVALID_JSON lists."""
    try:
        return msgspec.json.decode(json, type=ReplayRequest | EventsRequest)
    except msgspec.ValidationError:
        return msgspec.json.decode(json, type=ReplayRequest)


def _problem_of(json: bytes) -> str:
    """Describe the request of a client of another version; empty for what no edged sends."""
    try:
        kind = msgspec.json.decode(json, type=_OfAnyVersion).kind
    except INVALID_JSON:
        return ""
    return f"a request of kind {kind[:40]!r}, or its fields, are unknown here: {versions_of(json)}" if kind else ""


class _OfAnyVersion(msgspec.Struct):
    kind: str = ""


def _events_answer(events: Sequence[bytes]) -> list[bytes]:
    return [msgspec.json.encode(EventsAnswer(events=len(events))), b"\n".join(events)]


def _is_settled(page: Page) -> bool:
    """Return whether the page is full, and too old to change."""
    return page.next_seq is not None and page.next_seq + SETTLED <= (page.last_kept or 0)


def _header(page: Page) -> bytes:
    answer = ReplayAnswer(
        predictions=len(page.predictions),
        withdrawn=page.withdrawn,
        first_kept=page.first_kept,
        last_kept=page.last_kept,
        next_seq=page.next_seq,
    )
    return msgspec.json.encode(answer)


class RecentPeers:
    """The subscribers that sent a request within `RECENT_NS`, and those without room for an answer."""

    def __init__(self) -> None:
        self._asked_ns: dict[bytes, int] = {}  # earliest first
        self._stalled_ns: dict[bytes, int] = {}

    def count(self, peer: bytes, now: int) -> int:
        """Record a request, and return the number of recent subscribers."""
        self._asked_ns.pop(peer, None)
        self._asked_ns[peer] = now
        _forget(self._asked_ns, now - RECENT_NS)
        return len(self._asked_ns)

    def stalls(self, peer: bytes, now: int) -> None:
        """Record that a subscriber had no room for an answer, or has left."""
        self._stalled_ns.pop(peer, None)
        self._stalled_ns[peer] = now

    def is_stalled(self, peer: bytes, now: int) -> bool:
        """Return whether it stalled recently: reading a page for it would be useless."""
        _forget(self._stalled_ns, now - STALLED_NS)
        return peer in self._stalled_ns


def _forget(times_ns: dict[bytes, int], before_ns: int) -> None:
    """Remove entries older than that."""
    while times_ns and next(iter(times_ns.values())) < before_ns:
        del times_ns[next(iter(times_ns))]


def page_bytes(peers: int, format_: Format) -> int:
    """Return how many bytes of JSON a page of each of so many subscribers may hold.

    A power of 2, so that they share pages.
    """
    share = 1 << ((ALL_PAGES // peers).bit_length() - 1)
    share *= SHRINKS if format_ == "zlib" else 1
    return max(SMALLEST_PAGE, min(LARGEST_PAGE, share))


def give_memory_back() -> None:
    """Return free memory to the system, if the C library has malloc_trim."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
