"""A hub, its bridge to NATS and a server: what the journal holds against what the stream holds."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Self

from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError

from edged.bridge.jetstream import IDENTITY
from edged.config import NatsConfig
from edged.hub.journal.reader import JournalReader
from edged.transport.nats import connect
from tests.client.hub_end import Addresses, HubEnd, a_hub
from tests.eventually import LIMIT_S, eventually

CATCH_UP_S = 300.0  # tens of thousands of predictions on a machine that is busy


def config_file(folder: Path, where: Addresses, port: int, node: str = "test", **nats: Any) -> Path:
    """The config of the bridge between a hub and a server."""
    config = {
        "node": node,
        "cameras": {"door": {"source": "synthetic:digits"}},
        "publish": {"address": where.stream, "replay": where.replay},
        "nats": {"servers": [f"nats://127.0.0.1:{port}"], **nats},
    }
    path = folder / "bridge.yaml"
    path.write_text(json.dumps(config))
    return path


class Bridge:
    """`edged bridge nats` in a process of its own, which can be killed and started again."""

    def __init__(self, config: Path, host: Sequence[str] = ()) -> None:
        """`host`: what begins a command on another host."""
        self._config, self.log, self._host = config, config.with_name("bridge.log"), host
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [*self._host, sys.executable, "-m", "edged", "bridge", "nats", str(self._config)]
        environment = {**os.environ, "XDG_STATE_HOME": str(self._config.parent)}
        with self.log.open("a") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it; returns its exit status."""
        assert self._process
        self._process.send_signal(number)
        return self._process.wait(LIMIT_S)

    @property
    def carried(self) -> int:
        """The number up to which all are acknowledged, as its file says."""
        try:
            (path,) = (self._config.parent / "edged").glob("*/nats-place.json")
            place = json.loads(path.read_text())
        except (OSError, ValueError):  # there is none yet
            return -1
        return int(place["place"]["seq"])

    def reports(self, text: str) -> bool:
        return text in self.log.read_text()


@contextmanager
def bridge(config: Path, host: Sequence[str] = ()) -> Iterator[Bridge]:
    """Run the bridge until the block ends."""
    running = Bridge(config, host)
    running.start()
    try:
        yield running
    finally:
        running.stop(signal.SIGKILL)
        assert "Traceback" not in running.log.read_text(), running.log.read_text()


class BusyHub:
    """A hub that publishes so many predictions a second, and a status now and then, until it is closed."""

    def __init__(self, hub: HubEnd, rate: int) -> None:
        self.hub, self.rate, self.rounds = hub, rate, 0
        self._quiet, self._stopped = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def quiet(self) -> None:
        """Publish no more predictions; statuses go on, as of a daemon whose cameras see nothing new."""
        self._quiet.set()
        last = self.rounds
        eventually(lambda: self.rounds > last + 1)

    def _work(self) -> None:
        while not self._stopped.wait(0.1):
            if not self._quiet.is_set():
                self.hub.publish(max(1, self.rate // 10))
            self.hub.status()
            self.rounds += 1


@contextmanager
def a_busy_hub(folder: Path, where: Addresses, rate: int = 200, node: str = "test") -> Iterator[BusyHub]:
    with a_hub(folder, where, node) as hub, BusyHub(hub, rate) as busy:
        yield busy


def journaled(folder: Path) -> list[int]:
    """The numbers in the journal."""
    reader, numbers, first = JournalReader(folder / "journal.sqlite"), list[int](), 0
    while True:
        page = reader.page(first, None, None, 1000)
        numbers += [json.loads(payload)["seq"] for payload in page.predictions]
        if page.next_seq is None:
            return numbers
        first = page.next_seq


class Stream:
    """What a stream holds, read by a connection of its own."""

    def __init__(self, port: int, name: str = "EDGED") -> None:
        self._nats = NatsConfig(servers=(f"nats://127.0.0.1:{port}",))
        self._name = name

    def payloads(self, subject: str) -> list[bytes]:
        """The messages of a subject, oldest first."""
        return [payload for _, payload in asyncio.run(self._read(subject))]

    def numbers(self, node: str = "*") -> list[int]:
        """The numbers of a node's predictions, in the order of the stream."""
        return [json.loads(payload)["seq"] for payload in self.payloads(f"edged.{node}.*.prediction")]

    def identities(self, subject: str) -> Counter[str]:
        return Counter(identity for identity, _ in asyncio.run(self._read(subject)))

    def is_there(self) -> bool:
        """Whether there is such a stream."""
        try:
            self.info()
        except NotFoundError:
            return False
        return True

    def info(self) -> StreamInfo:
        return asyncio.run(self._info())

    def add(self, **fields: Any) -> None:
        """Make this stream, or change it."""
        asyncio.run(self._add(StreamConfig(name=self._name, **fields)))

    async def _add(self, config: StreamConfig) -> None:
        async with self._connected() as client:
            streams = client.jetstream()
            names = [each.config.name for each in await streams.streams_info()]
            await (streams.update_stream(config) if config.name in names else streams.add_stream(config))

    async def _info(self) -> StreamInfo:
        async with self._connected() as client:
            return await client.jetstream().stream_info(self._name)

    async def _read(self, subject: str) -> list[tuple[str, bytes]]:
        async with self._connected() as client:
            return [each async for each in self._messages(client, subject)]

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        client = await connect(self._nats, "test")
        try:
            yield client
        finally:
            await client.close()

    async def _messages(self, client: Client, subject: str) -> AsyncIterator[tuple[str, bytes]]:
        config = ConsumerConfig(ack_policy=AckPolicy.NONE, inactive_threshold=LIMIT_S)
        reading = await client.jetstream().pull_subscribe(subject, stream=self._name, config=config)
        waiting = (await reading.consumer_info()).num_pending or 0
        while waiting:
            for found in await reading.fetch(min(waiting, 500), timeout=LIMIT_S):
                waiting -= 1
                yield (found.headers or {}).get(IDENTITY, ""), found.data


def carries_on(bridge: Bridge) -> None:
    """Wait until more is acknowledged than now."""
    before = bridge.carried
    eventually(lambda: bridge.carried > before)


def acknowledged(folder: Path, bridge: Bridge) -> list[int]:
    """Wait until all of the journal is acknowledged; returns its numbers."""
    kept = journaled(folder)
    eventually(lambda: bridge.carried >= kept[-1], CATCH_UP_S)
    return kept


def is_there_once(numbers: list[int], stream: Stream, node: str = "*") -> int:
    """Check that each of these predictions of a node is in the stream once; returns how many they are."""
    counts = Counter(stream.numbers(node))
    wrong = {number: counts[number] for number in numbers if counts[number] != 1}
    assert wrong == {}, f"of {len(numbers)} numbers these are in the stream so many times: {wrong}"
    return len(numbers)


def delivered_once(folder: Path, bridge: Bridge, stream: Stream) -> int:
    """Wait until all of the journal is acknowledged, and check that it is there once; returns how many."""
    return is_there_once(acknowledged(folder, bridge), stream)
