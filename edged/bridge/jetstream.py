"""The streams of a fleet on a server: what they hold of a node, and how predictions get into them.

Messages are published before earlier ones are acknowledged, so a failure may leave holes before the newest one.
The place of a node, in a file and in the header of each message, is the last prediction up to which there are no
holes; what the stream holds behind it is read before more is published.
"""

import asyncio
import json
from collections import deque
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from edged import __version__
from edged.bridge.subjects import Delivered, NatsMessage, Subjects, streams_of
from edged.config import NatsConfig
from edged.errors import ServerError
from edged.system.files import replace_file

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.api import PubAck, RawStreamMsg, StreamConfig, StreamInfo

SCHEMA = 1  # of the file with the place
MAX_BYTES = 4096  # of that file

IDENTITY = "Nats-Msg-Id"
PLACE = "Edged-Place"
ACK_S = 10.0  # an acknowledgement that has not come until then will not come
WINDOW_S = 60.0  # a message that is on its way when its connection is lost may arrive so much later
LATEST = "_LATEST"
LATEST_AGE_S = timedelta(days=1).total_seconds()
OVERLAP = 10065  # JetStream's error code: the subjects are those of another stream

WINDOW = 64  # messages without an acknowledgement


@dataclass(frozen=True, slots=True)
class StreamPlace:
    """The last prediction that the stream has acknowledged with all before it; `seq` −1: none yet.

    `stream_seq`: a number in the stream behind which all later predictions stand.
    """

    boot: str = ""
    seq: int = -1
    stream_seq: int = 0

    def header(self) -> str:
        """Return it as a message's header."""
        return f"{self.boot}/{self.seq}/{self.stream_seq}"


def from_header(text: str) -> StreamPlace:
    """Parse `StreamPlace.header`. Raises ValueError."""
    boot, seq, stream_seq = text.rsplit("/", 2)
    return StreamPlace(boot, int(seq), int(stream_seq))


class PlaceFile:
    """The place of a node in one stream, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: tuple[str, StreamPlace] | None = None

    def read(self, stream: str) -> StreamPlace | None:
        """Return the place in `stream`, its name and birth; None if the file is of another, damaged or missing.

        One of a newer edged counts as missing: the stream itself is read then, which takes longer.
        """
        try:
            with self._path.open("rb") as file:
                kept = json.loads(file.read(MAX_BYTES))
            is_ours = kept["stream"] == stream and kept.get("schema", SCHEMA) <= SCHEMA
            return StreamPlace(**kept["place"]) if is_ours else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def write(self, stream: str, place: StreamPlace) -> None:
        """Replace the file, unless it holds this place. Raises OSError."""
        if self._kept == (stream, place):
            return
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with replace_file(self._path, durable=False) as file:
            content = {"schema": SCHEMA, "edged": __version__, "stream": stream, "place": asdict(place)}
            file.write(json.dumps(content).encode())
        self._kept = (stream, place)


class FleetStream:
    """The stream of predictions and events, by a connection."""

    def __init__(self, client: "Client", nats: NatsConfig, subjects: Subjects) -> None:
        self._client, self._nats, self._subjects = client, nats, subjects
        self._js = client.jetstream(domain=nats.domain)
        self.born = ""

    async def open(self) -> None:
        """Find the stream, or make it. Raises ServerError if it is not fit, OSError and nats.errors.Error."""
        from nats.js.api import StreamConfig
        from nats.js.errors import APIError

        kept, latest = streams_of(self._nats.subject)
        name, days = self._nats.stream, self._nats.max_age_days
        max_bytes = self._nats.max_megabytes * 1_000_000
        max_age = timedelta(days=days).total_seconds()
        info = await self._found(
            StreamConfig(name=name, subjects=kept, max_bytes=max_bytes, max_age=max_age, duplicate_window=120)
        )
        self._check(info)
        self.born = f"{name} {info.created}"
        last = StreamConfig(name=name + LATEST, subjects=latest, max_msgs_per_subject=1, max_age=LATEST_AGE_S)
        try:
            await self._found(last)
        except APIError as error:
            if error.err_code != OVERLAP:  # a stream of the operator's keeps them
                raise

    async def _found(self, config: "StreamConfig") -> "StreamInfo":
        from nats.js.errors import NotFoundError

        try:
            return await self._js.stream_info(str(config.name))
        except NotFoundError:
            return await self._js.add_stream(config)

    def _check(self, info: "StreamInfo") -> None:
        """Raises ServerError for a stream that would lose predictions, or take them twice."""
        config, name = info.config, self._nats.stream
        if (retention := getattr(config.retention, "value", config.retention)) != "limits":
            raise ServerError(f"stream {name} has the retention {retention}: expected limits; make another stream")
        if config.duplicate_window < WINDOW_S:
            window_s = f"{config.duplicate_window:g} s"
            raise ServerError(f"stream {name} knows duplicates for {window_s} only: set duplicate_window to 2m")
        if config.no_ack or config.sealed:
            raise ServerError(f"stream {name} is sealed, or acknowledges nothing: make another stream")

    async def place(self, file: PlaceFile) -> tuple[StreamPlace, set[str]]:
        """Return how far this node is, and the identities of its messages in the stream behind that place."""
        newest: RawStreamMsg | None = None
        for subject in self._subjects.counted:
            found = await self._message(subject)
            if found and (newest is None or (found.seq or 0) > (newest.seq or 0)):
                newest = found
        if newest is None:
            return file.read(self.born) or StreamPlace(), set()
        try:
            place = from_header((newest.headers or {})[PLACE])
        except (KeyError, ValueError):
            message = f"{newest.subject} holds messages of another program: choose another nats.subject"
            raise ServerError(f"stream {self._nats.stream}: {message}") from None
        return place, await self._behind(place)

    async def _behind(self, place: StreamPlace) -> set[str]:
        """Return the identities of this node's messages behind a place."""
        identities = set()
        for subject in self._subjects.counted:
            after: int | None = place.stream_seq
            while after is not None and (found := await self._message(subject, after + 1)):
                identities.add((found.headers or {}).get(IDENTITY, ""))
                after = found.seq
        return identities

    async def _message(self, subject: str, first: int | None = None) -> "RawStreamMsg | None":
        """Return the last message of a subject, or the first one from a number on."""
        from nats.js.errors import NotFoundError

        try:
            return await self._js.get_msg(self._nats.stream, seq=first, subject=subject, next=first is not None)
        except NotFoundError:
            return None

    def publish(self, message: NatsMessage, place: StreamPlace | None = None) -> "asyncio.Task[PubAck]":
        """Send a message after those before it; the task is its acknowledgement. `place`: how far the node is."""
        headers = {IDENTITY: message.identity} | ({PLACE: place.header()} if place else {})
        name, data = self._nats.stream, message.payload
        return asyncio.create_task(self._js.publish(message.subject, data, ACK_S, name, headers))

    async def show(self, message: NatsMessage) -> None:
        """Send a message that needs no acknowledgement, since the next one replaces it."""
        await self._client.publish(message.subject, message.payload, headers={IDENTITY: message.identity})


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and its acknowledgement to come; None: the stream held it before."""

    what: Delivered
    ack: "asyncio.Task[PubAck] | None"


class Delivery:
    """Sends predictions in order, and advances the place as they are acknowledged."""

    def __init__(self, stream: FleetStream, place: StreamPlace, behind: set[str]) -> None:
        """`behind`: identities of messages that the stream holds behind `place`."""
        self._stream, self._behind = stream, behind
        self._sent: deque[Sent] = deque()
        self._confirmed = 0
        self.place = place
        self.has_delivered = False  # whether the server has acknowledged a message

    async def put(self, what: Delivered) -> None:
        """Send a message, as soon as there is room. Raises what `settle` raises."""
        while len(self._sent) >= WINDOW:
            await self._oldest()
        is_held = what.message.identity in self._behind
        ack = None if is_held else self._stream.publish(what.message, self.place)
        self._sent.append(Sent(what, ack))

    async def settle(self) -> None:
        """Advance over all that is acknowledged. Raises ServerError for an overdue answer, nats.errors.Error."""
        while self._sent and ((ack := self._sent[0].ack) is None or ack.done()):
            await self._oldest()

    def close(self) -> None:
        """Give up what is not acknowledged; the next connection reads in the stream what has arrived."""
        for sent in self._sent:
            if sent.ack:
                sent.ack.cancel()
                sent.ack.add_done_callback(_retrieve)

    async def _oldest(self) -> None:
        """Wait for the oldest acknowledgement, and advance the place."""
        sent = self._sent[0]
        number = self.place.stream_seq
        if sent.ack:
            try:
                ack = await sent.ack
            except TimeoutError:
                raise ServerError(f"no acknowledgement within {ACK_S:g} s") from None
            self.has_delivered = True
            # Messages of the connection before may still arrive, out of order: at most two windows of them
            number = ack.seq if self._confirmed > 2 * WINDOW else number
        self._sent.popleft()
        self._confirmed += 1
        self.place = replace(self.place, boot=sent.what.boot, seq=sent.what.seq, stream_seq=number)


def _retrieve(ack: "asyncio.Task[PubAck]") -> None:
    """Retrieve an error, which asyncio would report otherwise: a task may end by one although it was cancelled."""
    if not ack.cancelled():
        ack.exception()
