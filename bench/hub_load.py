"""How the hub bears many cameras and workers: `python -m bench.hub_load --help`.

The hub is the real one, with its journal and its metrics; cameras and workers are simulated, each with a link of
its own: cameras send frames of 120×120×3 bytes at their rate, workers answer at once. So what is measured is the
hub's own work, and where it ends. An age is the time from a frame's capture until a subscriber on the same host
has its prediction.

Each window of some seconds has the state of the machine; cameras and workers stand still while that is looked at.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, fields
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import msgspec
import psutil
import zmq

from bench.quartiles import Quartiles, states_of
from bench.raw_results import Measured, keep, origin
from bench.swarm import cameras, workers
from edged.client import Prediction
from edged.system.machine_state import LEFT_OUT, OTHERS, MachineState
from edged.system.paths import link_address, runtime_directory
from edged.system.processor_use import processor_time_s
from edged.transport.keys import new_pair
from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port

WARM_S = 2.0
RECONNECT_MS = 5  # of a listener that was there before the daemon
STOP_S = 0.03  # until the hub has nothing more to do after its cameras stand still
CATCH_UP_S = 0.5  # after that the cameras' burst is over
SILENT_S = 120.0  # a camera or a worker that is started again serves far sooner
COLUMNS = (
    "link",
    "cameras",
    "workers",
    "state, windows",
    "offered/s",
    "predicted/s",
    "age p50",
    "age p99",
    "CPU a frame",
    "of a processor",
    "memory",
)
FIGURES = ("fps", "cpu_us", "cpu_share", "p50_ms", "p99_ms", "most_ms", "rss_mb")


@dataclass(frozen=True)
class Load:
    """What is offered: so many cameras, each with `fps`, and so many workers of `batch` and credit 2.

    They come by the private link of the hub's host, or by that of other hosts: `curve` encrypts that.
    """

    cameras: int
    workers: int
    fps: float
    batch: int = 1
    curve: bool = False
    private: bool = False

    @property
    def link(self) -> str:
        """Return its name in tables."""
        return "Unix" if self.private else "CURVE, tcp" if self.curve else "ipc"


@dataclass(frozen=True)
class Window:
    """What the hub made of it in some seconds. `cpu_us`: its processor time by prediction."""

    state: str
    others: float
    fps: float
    cpu_us: float
    cpu_share: float
    p50_ms: float
    p99_ms: float
    most_ms: float
    rss_mb: float


class Swarm:
    """The processes of all cameras and of all workers."""

    def __init__(self, children: Sequence[BaseProcess]) -> None:
        self.children = children
        self._processes = [psutil.Process(child.pid) for child in children]

    def require_alive(self) -> None:
        """Raises SystemExit if one of them has ended: nothing more will be predicted."""
        for child in self.children:
            if child.exitcode is not None:
                raise SystemExit(f"the process of all {child.name} ended with exit code {child.exitcode}")

    @contextmanager
    def standing_still(self, stop_s: float = STOP_S) -> Iterator[None]:
        """Stop all of them, and wait for `stop_s`, so that the hub has nothing to do."""
        for process in self._processes:
            process.suspend()
        time.sleep(stop_s)
        try:
            yield
        finally:
            for process in self._processes:
                process.resume()


class Listener:
    """A subscriber to all predictions, which may listen before there is a daemon."""

    def __init__(self, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.RCVHWM, 0)
        self._socket.setsockopt(zmq.RECONNECT_IVL, RECONNECT_MS)
        self._socket.connect(address)
        self._socket.subscribe("edged/")  # no snapshots

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.destroy(linger=0)

    def first(self, within_s: float) -> Prediction:
        """Return the next prediction. Raises TimeoutError."""
        end = time.monotonic() + within_s
        while (left_s := end - time.monotonic()) > 0:
            for _, message in self._receive(left_s):
                return msgspec.json.decode(message, type=Prediction)
        raise TimeoutError(f"no prediction within {within_s} s")

    def skip(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Drop what has come and comes in so many seconds, until a prediction has come.

        Raises SystemExit if none comes within `SILENT_S`. `meanwhile`: called after each wait.
        """
        end = time.monotonic() + SILENT_S
        while not self.messages(seconds):
            meanwhile()
            if time.monotonic() > end:
                raise SystemExit(f"no prediction within {SILENT_S:g} s: a camera, a worker or the hub has ended")

    def messages(self, seconds: float) -> list[tuple[float, bytes]]:
        """Return the JSON of each prediction of so many seconds, with the seconds since 1970 when it came."""
        came: list[tuple[float, bytes]] = []
        end = time.monotonic() + seconds
        while (left_s := end - time.monotonic()) > 0:
            came += self._receive(left_s)
        return came

    def predictions(self, seconds: float) -> list[tuple[float, Prediction]]:
        """Return the predictions of so many seconds, likewise."""
        return [(at, msgspec.json.decode(message, type=Prediction)) for at, message in self.messages(seconds)]

    def ages(self, seconds: float) -> list[float]:
        """Return the age of each prediction of so many seconds, when it came."""
        return [at - float(json.loads(message)["captured_at"]) for at, message in self.messages(seconds)]

    def _receive(self, within_s: float) -> Iterator[tuple[float, bytes]]:
        """Yield the next message, if it comes in time and is a prediction."""
        if self._socket.poll(math.ceil(1000 * within_s)):
            topic, message = self._socket.recv_multipart()
            if topic.endswith(b"/prediction"):
                yield time.time(), message


def heard(daemon: Daemon, seconds: float) -> list[float]:
    """The age of each prediction published in the next so many seconds, once the first has come."""
    with Listener(daemon.address) as listener:
        listener.skip(0.05)
        return listener.ages(seconds)


def measure(load: Load, windows: int, seconds: float, machine: MachineState) -> list[Window]:
    """Offer `load` to a new hub for so many windows."""
    with (
        TemporaryDirectory() as name,
        hub(load, Path(name)) as daemon,
        swarm(load, daemon) as offered,
        Listener(daemon.address) as listener,
    ):
        listener.skip(WARM_S, offered.require_alive)
        return [_window(daemon, listener, offered, seconds, machine) for _ in range(windows)]


def _window(daemon: Daemon, listener: Listener, offered: Swarm, seconds: float, machine: MachineState) -> Window:
    pid = daemon.process.pid

    def look() -> tuple[list[float], float, float]:
        listener.skip(CATCH_UP_S, offered.require_alive)
        spent_s, start = processor_time_s(pid), time.monotonic()
        ages = sorted(listener.ages(seconds))
        return ages, processor_time_s(pid) - spent_s, time.monotonic() - start

    (ages, cpu_s, took_s), turn = machine.during(look, offered.standing_still)
    offered.require_alive()
    return Window(
        turn.state,
        turn.others,
        fps=len(ages) / took_s,
        cpu_us=1e6 * cpu_s / max(1, len(ages)),
        cpu_share=cpu_s / took_s,
        p50_ms=1000 * ages[len(ages) // 2] if ages else math.nan,
        p99_ms=1000 * ages[len(ages) * 99 // 100] if ages else math.nan,
        most_ms=1000 * ages[-1] if ages else math.nan,
        rss_mb=psutil.Process(pid).memory_info().rss / 1e6,
    )


@contextmanager
def hub(load: Load, folder: Path, module: str = "") -> Iterator[Daemon]:
    """Run a hub for `load`. `module`: what is `edged`; default: as the load requires."""
    host = {} if load.private else {"host": "swarm"}
    config: dict[str, Any] = {
        "node": "test",
        "cameras": {f"c{index}": {"source": 0, **host} for index in range(load.cameras)},
        "workers": [{"device": "null", "group": "all", **host} for _ in range(load.workers)],
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
        "link": {"address": f"tcp://127.0.0.1:{free_port()}" if load.curve else f"ipc://{folder}/link"},
    }
    if load.curve:
        for name in ("hub", "swarm"):
            new_pair(folder, name)
        allowed = [str(folder / "swarm.pub")]
        config["security"] = {
            "key": str(folder / "hub.key"), "allow": allowed, "cameras": allowed, "workers": allowed,
        }  # fmt: skip
    module = module or ("bench.idle_children" if load.private else "edged")
    with run_edged(folder, config=config, module=module) as daemon:
        yield daemon


@contextmanager
def swarm(load: Load, daemon: Daemon) -> Iterator[Swarm]:
    """One process for all cameras, another for all workers."""
    journal = daemon.folder / "edged/test/journal.sqlite"
    address = link_address(runtime_directory(journal)) if load.private else str(daemon.config["link"]["address"])
    keys = daemon.folder if load.curve else None
    context = multiprocessing.get_context("spawn")
    processes: list[BaseProcess] = [
        context.Process(target=cameras, name="cameras", args=(address, load.cameras, load.fps, keys), daemon=True)
    ]
    if load.workers:
        arguments = (address, load.workers, load.batch, keys)
        processes.append(context.Process(target=workers, name="workers", args=arguments, daemon=True))
    for process in processes:
        process.start()
    try:
        yield Swarm(processes)
    finally:
        for process in processes:
            process.kill()
            process.join()


def by_state(windows: Sequence[Window]) -> dict[str, dict[str, Quartiles]]:
    """Return each figure of each state that has windows enough."""
    found = {}
    for state in states_of([window.state for window in windows]):
        of_state = [window for window in windows if window.state == state]
        found[state] = {name: Quartiles.of([getattr(each, name) for each in of_state]) for name in FIGURES}
    return found


def as_rows(load: Load, windows: Sequence[Window]) -> Iterator[tuple[str, ...]]:
    """Return a row of a table for each state: medians over its windows, some with their quartiles."""
    for state, each in by_state(windows).items():
        yield (
            load.link,
            str(load.cameras),
            str(load.workers),
            f"{state}, {each['fps'].count}",
            f"{load.cameras * load.fps:.0f}",
            f"{each['fps'].median:.0f}",
            f"{each['p50_ms'].text(1)} ms",
            f"{each['p99_ms'].text(1)} ms",
            f"{each['cpu_us'].text(0)} µs",
            f"{each['cpu_share'].median:.0%}",
            f"{each['rss_mb'].median:.0f} MB",
        )


def windows_of(measured: Measured) -> list[Window]:
    """Return the windows of a raw result."""
    return [Window(**dict(zip(measured["columns"], each, strict=True))) for each in measured["windows"]]


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    options = _options()
    print(" | ".join(COLUMNS))
    with MachineState(options.others) as machine:
        for count, served, link in itertools.product(options.cameras, options.workers, options.link):
            load = Load(count, served, options.fps, options.batch, link == "curve", link == "private")
            windows = measure(load, options.windows, options.seconds, machine)
            rows = [
                [round(each, 4) if isinstance(each, float) else each for each in astuple(one)] for one in windows
            ]
            kept = {"load": asdict(load), "columns": [field.name for field in fields(Window)], "windows": rows}
            keep(options.output, origin("bench.hub_load") | kept, ("load",))
            gone = sum(window.state in LEFT_OUT for window in windows)
            print(*map(" | ".join, as_rows(load, windows)), f"({gone} windows left out)", sep="\n", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.hub_load", description=__doc__)
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--workers", type=int, nargs="+", default=[4])
    parser.add_argument("--fps", type=float, default=30.0, help="of each camera (default: 30)")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--windows", type=int, default=12, help="of each load (default: 12)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a window (default: 3)")
    links, what = (
        ("private", "curve", "ipc"),
        "private: of the hub's host; of other hosts: curve, by TCP with keys",
    )
    parser.add_argument("--link", nargs="+", choices=links, default=links[:2], help=f"{what}; ipc, without")
    parser.add_argument("--others", type=float, default=OTHERS, help=f"processors that others may use ({OTHERS})")
    parser.add_argument("--output", type=Path, default=Path("build/hub.json"), help="default: build/hub.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
