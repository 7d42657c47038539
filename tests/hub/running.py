"""A whole hub that runs in the process of the test, with the scripted cameras and workers of `tests.hub.peers`."""

import json
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import urlopen

import msgspec
import psutil
import zmq

from edged.config.load import ConfigSource, load_config
from edged.hub.stats.summary import Limits
from edged.hub.wiring import run_hub
from edged.messages import Event, Published, Status
from tests.e2e.daemon import conserves
from tests.eventually import LIMIT_S, SILENCE_MS, TURN_MS, eventually, free_port, in_background

P = TypeVar("P", bound=Published)
PEERS = (sys.executable, "-m", "tests.hub.peers")
PATIENT = {"keep": 64, "max_age_s": 60, "deadline_s": 60}  # freshness that a busy machine does not end
LOAD_DROPS = {"link_full", "superseded", "stale", "shutdown"}  # by a busy machine, never by a worker


@dataclass(frozen=True)
class Once(Limits):
    """Ends a run as soon as `condition` holds, however long that takes on this machine."""

    condition: Callable[[], Any] = bool
    begun_s: float = 0.0

    def count_reached(self, predictions: int) -> bool:
        """Whether it holds; fails the test where it never does."""
        assert time.monotonic() < self.begun_s + LIMIT_S, f"not true within {LIMIT_S:g} s: {self.condition}"
        return bool(self.condition())


class Run:
    """Runs a hub with scripted cameras and workers, and keeps what it shows: `lines` and the `summary`."""

    def __init__(self, folder: Path, cameras: list[str], devices: list[str], **sections: Any) -> None:
        config = {
            "node": "test",
            "cameras": {name: {"source": "synthetic:digits"} for name in cameras},
            "workers": [{"device": device} for device in devices],
            "publish": {"address": f"tcp://127.0.0.1:{free_port()}", "replay": f"tcp://127.0.0.1:{free_port()}"},
            "metrics": {"address": f"127.0.0.1:{free_port()}"},
            "journal": {"path": str(folder / "journal.sqlite")},
            **sections,
        }
        self.path = folder / "edged.yaml"
        self.path.write_text(json.dumps(config))
        self.lines: list[str] = []
        self.summary: dict[str, Any] = {}
        self._listeners: list[threading.Event] = []

    def until(self, predictions: int | None = None, seconds: float | None = None) -> dict[str, Any]:
        """Run until a limit is reached, and return the summary, in which every frame is accounted for."""
        return self._end_by(Limits(predictions, seconds))

    def once(self, condition: Callable[[], Any]) -> dict[str, Any]:
        """Run until the condition holds, and return the summary."""
        return self._end_by(Once(condition=condition, begun_s=time.monotonic()))

    def _end_by(self, limits: Limits) -> dict[str, Any]:
        self.summary = run_hub(
            load_config(self.path), ConfigSource(self.path), limits, show=self.lines.append, program=PEERS
        )
        assert conserves(self.summary), self.summary
        return self.summary

    @property
    def is_heard(self) -> bool:
        """Whether each listener has received something: none misses what is published from now on."""
        return all(listener.is_set() for listener in self._listeners)

    def metrics(self) -> str:
        """Scrape the metrics."""
        with urlopen(f"http://{load_config(self.path).metrics.address}/metrics", timeout=LIMIT_S) as answer:
            return str(answer.read().decode())

    @contextmanager
    def events(self) -> Iterator[list[Event]]:
        """Collect the events that are published meanwhile."""
        with self._heard("event", Event) as heard:
            yield heard

    @contextmanager
    def statuses(self) -> Iterator[list[Status]]:
        """Collect the statuses that are published meanwhile."""
        with self._heard("status", Status) as heard:
            yield heard

    @contextmanager
    def _heard(self, what: str, kind: type[P]) -> Iterator[list[P]]:
        heard: list[P] = []
        with in_background(
            partial(self._listen, what, lambda json: heard.append(msgspec.json.decode(json, type=kind)))
        ):
            yield heard

    def _listen(self, what: str, take: Callable[[bytes], None], stop: threading.Event) -> None:
        listens = threading.Event()
        self._listeners.append(listens)
        with zmq.Context() as context, context.socket(zmq.SUB) as socket:
            socket.subscribe("edged/test/")
            socket.setsockopt(zmq.RECONNECT_IVL, 10)
            socket.connect(load_config(self.path).publish.address)
            while not stop.is_set() or socket.poll(SILENCE_MS):
                if socket.poll(TURN_MS):
                    topic, message = socket.recv_multipart()
                    listens.set()
                    if topic.endswith(f"/{what}".encode()):
                        take(message)


def cameras_in(path: Path) -> list[str]:
    """Return the camera of each prediction in a journal."""
    with closing(sqlite3.connect(path)) as journal:
        rows = journal.execute("SELECT json FROM predictions WHERE json != x''")  # those without were withdrawn
        return [json.loads(row)["camera"] for (row,) in rows]


def of_workers(heard: list[Event]) -> list[tuple[str, str]]:
    """Return event and worker. Events without a worker are left out: a test beside this one may try our port."""
    return [(event.event, event.worker) for event in heard if event.worker]


def while_it_runs(run: Run, folder: Path, ask: Callable[[], Any]) -> Any:
    """Return or raise the outcome of `ask`, called once the hub predicts; then end the hub."""
    outcomes: list[Any] = []

    def asking(stop: threading.Event) -> None:
        try:
            eventually(lambda: has_predicted(folder / "journal.sqlite") and run.is_heard)
            outcomes.append(ask())
        except Exception as error:
            outcomes.append(error)
        finally:
            if not stop.is_set():  # then the hub has ended by itself, and the signal would be ours
                os.kill(os.getpid(), signal.SIGTERM)

    with in_background(asking):
        run.until()
    if isinstance(outcomes[0], Exception):
        raise outcomes[0]
    return outcomes[0]


def has_predicted(journal: Path) -> bool:
    with suppress(sqlite3.OperationalError):  # it has no table yet
        return journal.exists() and bool(cameras_in(journal))
    return False


def child(verb: str, name: str) -> psutil.Process:
    """Return the process of a camera or worker of the hub that runs in this process, once there is one."""

    def found() -> list[psutil.Process]:
        children = psutil.Process().children()
        return [each for each in children if each.is_running() and [verb, name] == _words(each)]

    (one,) = eventually(found)
    return one


def _words(process: psutil.Process) -> list[str]:
    try:
        command = process.cmdline()
    except psutil.NoSuchProcess:  # or not yet reaped
        return []
    return command[command.index("tests.hub.peers") + 1 :][:2] if "tests.hub.peers" in command else []


def goes_on(folder: Path) -> None:
    """Wait until more predictions are in the journal than now."""
    before = len(cameras_in(folder / "journal.sqlite"))
    eventually(lambda: len(cameras_in(folder / "journal.sqlite")) > before + 3)
