"""The streams of a fleet on a server: made if there are none, checked, and read for what they hold."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from edged.bridge.place import PlaceFile, StreamPlace, from_header
from edged.bridge.subjects import NatsMessage, Subjects, streams_of
from edged.config import NatsConfig
from edged.errors import ServerError

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.js.api import PubAck, RawStreamMsg, StreamConfig, StreamInfo

IDENTITY = "Nats-Msg-Id"
PLACE = "Edged-Place"
ACK_S = 10.0  # an acknowledgement that has not come until then will not come
WINDOW_S = 60.0  # a message that is on its way when its connection is lost may arrive so much later
LATEST = "_LATEST"
LATEST_AGE_S = timedelta(days=1).total_seconds()
OVERLAP = 10065  # JetStream's error code: the subjects are those of another stream


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
