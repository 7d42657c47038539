"""What many subscribers that catch up at once cost: `python -m bench.catch_up --help`.

The hub is the real one, with a journal of so many predictions; cameras and workers are simulated. A raw subscriber
takes the age of each live prediction, from its capture to its arrival, before the crowd comes and while it fetches
the whole journal. The crowd is one process; its subscribers ask as `edged.client` does, a page at a time, but do
not unpack what they get: they stand for clients on other machines.
"""

import argparse
import json
import multiprocessing
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import msgspec
import psutil
import zmq

from bench.hub_load import Load, heard, swarm
from edged.cli.options import positive
from edged.clock import wall_s
from edged.config import JournalConfig
from edged.hub.journal.file import JournalFile
from edged.hub.journal.schema import Row
from edged.messages import (
    Label,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    ReplayRequest,
    StageSeconds,
    to_json,
)
from edged.transport.client_socket import unconnected
from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port

ROWS_A_COMMIT = 1000
IDLE_S = 3.0  # after which what the crowd has taken should be given back
AGAIN_S = 10.0  # from one request to the next where no answer comes


@dataclass
class Caught:
    """What became of the crowd: predictions that each subscriber has fetched, requests that were sent again."""

    finished: int
    rows: int
    again: int
    longest_wait_s: float
    seconds: float


@dataclass
class Seen:
    """Ages of live predictions in seconds, and the memory of the hub in MB."""

    ages_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        ages = sorted(1000 * age for age in self.ages_s)
        middle, high = ages[len(ages) // 2], ages[len(ages) * 99 // 100]
        return (
            f"age p50 {middle:6.1f} ms  p99 {high:6.1f}  most {ages[-1]:6.1f} of {len(ages)} predictions, "
            f"memory {self.memory_mb[0]:.0f} → {max(self.memory_mb):.0f} → {self.memory_mb[-1]:.0f} MB"
        )


def fill(path: Path, rows: int) -> None:
    """A journal with so many predictions, as a hub writes them."""
    path.parent.mkdir(parents=True)
    file = JournalFile(path, JournalConfig(max_predictions=rows + 100_000))
    for first in range(0, rows, ROWS_A_COMMIT):
        last = min(rows, first + ROWS_A_COMMIT)
        file.add([Row(seq, wall_s() - 3600 + seq / 100, to_json(_prediction(seq))) for seq in range(first, last)])
    file.close()


def _prediction(seq: int) -> Prediction:
    """Numbers like those of a real one: digits that nobody can compress."""
    at, chance = wall_s() + seq / 60, random.Random(seq)  # noqa: S311
    seconds = {name: chance.random() for name in StageSeconds.__struct_fields__}
    return Prediction(
        node="test",
        boot="0" * 32,
        seq=seq,
        camera="c0",
        frame=seq,
        captured_at=at,
        published_at=at,
        model=PredictionModel(name="m", sha256="0" * 64, precision="fp32", device="d", worker="local-0"),
        top=tuple(Label(label=f"label {index}", index=index, score=chance.random()) for index in range(5)),
        seconds=StageSeconds(**seconds),
        energy=PredictionEnergy(joules=chance.random(), method="measured", rails=("GPU",)),
    )


class Subscriber:
    """One of the crowd, and how far it has come."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str, last_seq: int) -> None:
        self._context, self._address, self._last_seq = context, address, last_seq
        self.rows = self.next_seq = self.again = 0
        self.is_done = False
        self.longest_wait_s = 0.0
        self.connect()

    def connect(self) -> None:
        self.socket = unconnected(self._context, zmq.DEALER, self._address, 10)
        self.socket.connect(self._address)
        self.ask()

    def ask(self) -> None:
        since = None if self.next_seq else wall_s() - 86_400
        request = ReplayRequest(since=since, first_seq=self.next_seq, last_seq=self._last_seq, format="zlib")
        self.socket.send(msgspec.json.encode(request))
        self.asked_s = time.monotonic()

    def take(self) -> None:
        header, _ = self.socket.recv_multipart(copy=False)
        answer = json.loads(header.bytes)
        self.longest_wait_s = max(self.longest_wait_s, time.monotonic() - self.asked_s)
        self.rows += answer["predictions"]
        self.next_seq, self.is_done = answer["next_seq"], answer["next_seq"] is None
        if not self.is_done:
            self.ask()


def crowd(address: str, count: int, last_seq: int, tell: Connection) -> None:
    """Fetch the journal `count` times at once, and tell `Caught`."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.set(zmq.MAX_SOCKETS, 4 * count + 100)
    start = time.monotonic()
    subscribers = [Subscriber(context, address, last_seq) for _ in range(count)]
    poller, of = zmq.Poller(), {each.socket: each for each in subscribers}
    for socket in of:
        poller.register(socket, zmq.POLLIN)
    while of:
        for socket, _ in poller.poll(1000):
            of[socket].take()
            if of[socket].is_done:
                poller.unregister(socket)
                of.pop(socket).socket.close(linger=0)
        for socket, each in list(of.items()):
            if time.monotonic() - each.asked_s > AGAIN_S:
                poller.unregister(socket)
                of.pop(socket).socket.close(linger=0)
                each.again += 1
                each.connect()
                of[each.socket] = each
                poller.register(each.socket, zmq.POLLIN)
    tell.send(
        Caught(
            finished=sum(each.rows == last_seq + 1 for each in subscribers),
            rows=sum(each.rows for each in subscribers),
            again=sum(each.again for each in subscribers),
            longest_wait_s=max(each.longest_wait_s for each in subscribers),
            seconds=time.monotonic() - start,
        )
    )


def result_of(process: BaseProcess, ours: Connection) -> Caught:
    """Wait for what the crowd tells. Raises SystemExit if its process ends without that."""
    try:
        caught: Caught = ours.recv()
    except EOFError:
        process.join()
        raise SystemExit(f"the process of the crowd ended with exit code {process.exitcode}") from None
    process.join()
    return caught


@contextmanager
def watched(daemon: Daemon) -> Iterator[Seen]:
    """What is seen meanwhile."""
    seen, stop = Seen(), Event()

    def watch() -> None:
        process, looked_s = psutil.Process(daemon.process.pid), 0.0
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.setsockopt(zmq.RCVHWM, 0)
            socket.connect(daemon.address)
            socket.subscribe("edged/")
            while not stop.is_set():
                if time.monotonic() - looked_s > 0.2:
                    looked_s = time.monotonic()
                    seen.memory_mb.append(process.memory_info().rss / 1e6)
                if socket.poll(100):
                    topic, message = socket.recv_multipart()
                    if topic.endswith(b"/prediction"):
                        seen.ages_s.append(time.time() - json.loads(message)["captured_at"])

    thread = Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def measure(subscribers: int, rows: int, load: Load, quiet_s: float) -> tuple[Seen, Seen, Caught]:
    """Before the crowd, with it, and what became of it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "edged/test/journal.sqlite", rows)
        config: dict[str, Any] = {
            "node": "test",
            "cameras": {f"c{index}": {"source": 0, "host": "swarm"} for index in range(load.cameras)},
            "workers": [{"device": "null", "host": "swarm", "group": "all"} for _ in range(load.workers)],
            "publish": {"address": f"tcp://127.0.0.1:{free_port()}", "replay": f"tcp://127.0.0.1:{free_port()}"},
            "journal": {"max_predictions": rows + 100_000},
            "metrics": {"address": f"127.0.0.1:{free_port()}"},
            "link": {"address": f"ipc://{folder}/link"},
        }
        with run_edged(folder, config=config) as daemon, swarm(load, daemon):
            heard(daemon, 1)
            with watched(daemon) as before:
                time.sleep(quiet_s)
            ours, theirs = multiprocessing.get_context("spawn").Pipe()
            arguments = (config["publish"]["replay"], subscribers, rows - 1, theirs)
            process = multiprocessing.get_context("spawn").Process(target=crowd, args=arguments, daemon=True)
            with watched(daemon) as during:
                process.start()
                theirs.close()  # so that a crowd that dies ends this, too
                caught = result_of(process, ours)
                time.sleep(IDLE_S)
            daemon.stop()
    return before, during, caught


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--subscribers", type=positive, nargs="+", default=[1, 150, 500])
    parser.add_argument("--rows", type=int, default=90_000)
    parser.add_argument("--cameras", type=int, default=4)
    parser.add_argument("--fps", type=float, default=15.0, help="of each camera")
    parser.add_argument("--seconds", type=float, default=10.0, help="before the crowd comes")
    options = parser.parse_args()
    for count in options.subscribers:
        load = Load(options.cameras, 1, options.fps)
        before, during, caught = measure(count, options.rows, load, options.seconds)
        print(f"{count} subscribers, {options.rows} predictions each:")
        print(f"  finished {caught.finished}, {caught.rows} predictions in {caught.seconds:.1f} s, ", end="")
        print(f"longest wait for a page {caught.longest_wait_s:.2f} s, {caught.again} requests sent again")
        print(f"  before: {before}\n  with:   {during}", flush=True)


if __name__ == "__main__":
    main()
