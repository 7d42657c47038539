"""Carry what a node publishes into a stream of NATS JetStream, each prediction exactly once.

A visit lasts as long as a connection to a server: it reads in the stream how far the node is, and continues
from there by the hub's replay. Any failure ends the visit; the next one begins by reading again. Between visits
only events and statuses are read from the hub, so that a server that is away costs no memory.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import zmq

from edged.bridge.jetstream import Delivery, FleetStream, PlaceFile, StreamPlace
from edged.bridge.subjects import NatsMessage, Subjects
from edged.client.replay import Lost, same_host
from edged.client.stream import PredictionStream
from edged.client.subscription import Arrival, SnapshotPicture, Subscription
from edged.config import Config, NatsConfig
from edged.errors import ServerError
from edged.messages import Event, Status
from edged.messages.published import snapshot_topic, topic
from edged.system.backoff import Backoff
from edged.system.paths import state_directory
from edged.transport.client_socket import Context, Curve
from edged.transport.nats import close, connect, denied, explained

POLL_MS = 100
EVENTS = 1000  # that wait; beyond that the oldest are lost
BURST = 200  # messages read at a time

BATCH = 32  # predictions read from the hub at a time
SAVE_S = 1.0
TICK_S = 0.1
LONGEST_WAIT_S = 30.0

log = logging.getLogger("edged.nats")


class Notices:
    """Reads a hub's messages that have no numbers. Of events all are kept, of statuses and pictures the last."""

    def __init__(
        self, context: Context, address: str, subjects: Subjects, *, snapshots: bool, curve: Curve | None
    ) -> None:
        self._subjects = subjects
        node = subjects.node
        self._stream = Subscription(context, address, topic=topic(node, None, "status"), curve=curve)
        self._stream.add(topic(node, None, "event"))
        self._pictures: Subscription | None = None
        if snapshots:
            self._pictures = Subscription(context, address, topic=snapshot_topic(node, ""), curve=curve)
        self.events: deque[NatsMessage] = deque(maxlen=EVENTS)
        self._latest: dict[str, NatsMessage] = {}

    def read(self) -> None:
        """Wait a moment for messages, and take those that have come."""
        wait_ms = POLL_MS
        for _ in range(BURST):
            message = self._stream.receive(wait_ms)
            picture = self._pictures.receive_picture(0) if self._pictures else None
            for each in (message, picture):
                self._take(each)
            if message is None and picture is None:
                return
            wait_ms = 0

    def _take(self, message: object) -> None:
        match message:
            case Event():
                self.events.append(self._subjects.event(message))
            case Status():
                for camera in message.camera_states:  # of each, so that predictions are not read twice
                    self._stream.add(topic(message.node, camera, "event"))
                self._put(self._subjects.status(message))
            case SnapshotPicture():
                self._put(self._subjects.snapshot(message))

    def _put(self, message: NatsMessage) -> None:
        self._latest[message.subject] = message

    def pop_latest(self) -> Iterator[NatsMessage]:
        """Yield the statuses and pictures that were not yielded before."""
        while self._latest:
            yield self._latest.pop(next(iter(self._latest)))

    def close(self) -> None:
        self._stream.close()
        if self._pictures:
            self._pictures.close()


def place_path(node: str) -> Path:
    """Return the file with the place of a node."""
    return state_directory() / node / "nats-place.json"


class NatsBridge:
    """Carries the messages of one node until it is cancelled."""

    def __init__(self, config: Config, nats: NatsConfig, curve: Curve | None) -> None:
        self._config, self._nats, self._curve = config, nats, curve
        self._subjects = Subjects(nats.subject, config.node)
        self._file = PlaceFile(place_path(config.node))
        self._context: Context = zmq.Context()
        self._problem = ""

    async def run(self) -> None:
        """Carry messages for ever. Raises ConfigError for files that cannot be used."""
        address = self._config.publish.address
        notices = Notices(
            self._context, address, self._subjects, snapshots=self._nats.snapshots, curve=self._curve
        )
        with ThreadPoolExecutor(1) as pool:
            reading = asyncio.create_task(_repeat(pool, notices))
            try:
                await self._visits(notices)
            finally:
                reading.cancel()
        notices.close()
        self._context.term()

    async def _visits(self, notices: Notices) -> None:
        import nats.errors

        backoff = Backoff(longest_s=LONGEST_WAIT_S)
        while True:
            try:
                await self._visit(notices, backoff)
            except* (OSError, ServerError, nats.errors.Error) as errors:
                first = _first(errors)
                why = str(first) if isinstance(first, ServerError) else explained(self._nats.servers, first)
                self._report(why)
            wait_s = backoff.failed()
            log.info("next attempt in %.1f s", wait_s)
            await asyncio.sleep(wait_s)

    async def _visit(self, notices: Notices, backoff: Backoff) -> None:
        """Connect, and carry messages until something fails. It succeeds if it lasts or delivers something."""
        import nats.errors

        client = await connect(self._nats, f"edged {self._config.node}", reconnects=False)
        try:
            stream = FleetStream(client, self._nats, self._subjects)
            await stream.open()
            place, behind = await stream.place(self._file)
            log.info("connected to %s; %s continues after %d", self._nats.servers[0], self._config.node, place.seq)
            delivery = Delivery(stream, place, behind)
            opened_s = time.monotonic()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._carry(delivery, place, is_first=not behind))
                    group.create_task(_carry_notices(stream, notices))
                    group.create_task(self._save(stream, delivery))
            except* (ServerError, nats.errors.TimeoutError):
                if not (said := denied(client)):
                    raise
                subjects = f"{self._nats.subject}.>"
                raise ServerError(
                    f"{self._nats.servers[0]}: this user may not publish all of {subjects} "
                    f"({said}): extend its permissions"
                ) from None
            finally:
                delivery.close()
                if delivery.has_delivered or time.monotonic() - opened_s > LONGEST_WAIT_S:
                    self._problem = ""
                    backoff.succeeded()
        finally:
            await close(client)

    async def _carry(self, delivery: Delivery, place: StreamPlace, *, is_first: bool) -> None:
        """Deliver predictions from a place on; `is_first`: the stream holds none behind it."""
        publish = self._config.publish
        source = PredictionStream(
            self._context,
            publish.address,
            replay=same_host(publish.address, publish.replay),  # known before the hub announces it
            node=self._config.node,
            after=(place.boot, place.seq),
            curve=self._curve,
        )
        messages = source.arrivals_and_losses()
        has_begun = place.seq >= 0 or not is_first
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as pool:  # all of ZeroMQ's sockets stay in one thread
            try:
                while True:
                    for each in await loop.run_in_executor(pool, _batch, messages):
                        if has_begun or isinstance(each, Arrival):  # what came before the first start is no gap
                            await delivery.put(self._subjects.delivered(each))
                            has_begun = True
                    await delivery.settle()
            finally:
                pool.submit(source.close)

    async def _save(self, stream: FleetStream, delivery: Delivery) -> None:
        """Keep the place on disk."""
        while True:
            await asyncio.sleep(SAVE_S)
            try:
                self._file.write(stream.born, delivery.place)
            except OSError as error:
                self._report(f"{place_path(self._config.node)}: the place cannot be kept: {error.strerror}")

    def _report(self, problem: str) -> None:
        """Log a problem once, until a visit succeeds."""
        if problem != self._problem:
            log.warning("%s; trying again", problem)
        self._problem = problem


async def _repeat(pool: ThreadPoolExecutor, notices: Notices) -> None:
    """Read events and statuses for ever."""
    loop = asyncio.get_running_loop()
    while True:
        await loop.run_in_executor(pool, notices.read)


async def _carry_notices(stream: FleetStream, notices: Notices) -> None:
    """Deliver events in order, and the last statuses and pictures."""
    while True:
        while notices.events:
            event = notices.events[0]
            await stream.publish(event)
            if notices.events and notices.events[0] is event:
                notices.events.popleft()
        for message in notices.pop_latest():
            await stream.show(message)
        await asyncio.sleep(TICK_S)


def _batch(messages: Iterator[Arrival | Lost | None]) -> list[Arrival | Lost]:
    """Return what comes next, as far as it comes at once."""
    found: list[Arrival | Lost] = []
    for message in messages:
        if message is None:
            break
        found.append(message)
        if len(found) >= BATCH:
            break
    return found


def _first(errors: BaseException) -> BaseException:
    """Return the first error in groups of them."""
    while isinstance(errors, BaseExceptionGroup):
        errors = errors.exceptions[0]
    return errors
