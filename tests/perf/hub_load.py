"""How the hub bears many cameras and workers: `python -m tests.perf.hub_load --help`.

The hub is the real one, with its journal and its metrics; cameras and workers are simulated, each with a link of
its own: cameras send frames of 120×120×3 bytes at their rate, workers answer at once. So what is measured is the
hub's own work, and where it ends.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import zmq

from edged.keys import new_pair
from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port
from tests.perf.quiet import undisturbed, wait_for_quiet
from tests.perf.swarm import cameras, workers

WARM_S = 2.0


@dataclass(frozen=True)
class Load:
    """What is offered: so many cameras, each with `fps`, and so many workers of `batch` and credit 2."""

    cameras: int
    workers: int
    fps: float
    batch: int = 1
    curve: bool = False


@dataclass(frozen=True)
class Borne:
    """What the hub made of it. `cpu_us`: its processor time by prediction; ages from capture to publication."""

    load: Load
    fps: float
    cpu_us: float
    cpu_share: float
    p50_ms: float
    p99_ms: float
    rss_mb: float


def measure(load: Load, seconds: float, most: float = math.inf) -> Borne:
    """Offer `load` to a new hub for so long, while others keep `most` processors busy at most."""
    borne: Borne | None = None
    while borne is None:
        wait_for_quiet(most)
        with TemporaryDirectory() as name, hub(load, Path(name)) as daemon, swarm(load, daemon):
            heard(daemon, WARM_S)
            borne = undisturbed(lambda: look(load, daemon, seconds), most)
    return borne


def look(load: Load, daemon: Daemon, seconds: float) -> Borne:
    process = psutil.Process(daemon.process.pid)
    before, start = process.cpu_times(), time.monotonic()
    ages = sorted(heard(daemon, seconds))
    took_s, after = time.monotonic() - start, process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return Borne(
        load,
        fps=len(ages) / took_s,
        cpu_us=1e6 * cpu_s / max(1, len(ages)),
        cpu_share=cpu_s / took_s,
        p50_ms=1000 * ages[len(ages) // 2] if ages else math.nan,
        p99_ms=1000 * ages[len(ages) * 99 // 100] if ages else math.nan,
        rss_mb=process.memory_info().rss / 1e6,
    )


@contextmanager
def hub(load: Load, folder: Path, module: str = "edged") -> Iterator[Daemon]:
    config: dict[str, Any] = {
        "node": "test",
        "cameras": {f"c{index}": {"source": 0, "host": "swarm"} for index in range(load.cameras)},
        "workers": [{"device": "null", "host": "swarm", "group": "all"} for _ in range(load.workers)],
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
    with run_edged(folder, config=config, module=module) as daemon:
        yield daemon


@contextmanager
def swarm(load: Load, daemon: Daemon) -> Iterator[None]:
    """One process for all cameras, another for all workers."""
    address, keys = str(daemon.config["link"]["address"]), daemon.folder if load.curve else None
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=cameras, args=(address, load.cameras, load.fps, keys), daemon=True)]
    if load.workers:
        arguments = (address, load.workers, load.batch, keys)
        processes.append(context.Process(target=workers, args=arguments, daemon=True))
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def heard(daemon: Daemon, seconds: float) -> list[float]:
    """The age of each prediction published in the next so many seconds, once the first has come."""
    ages: list[float] = []
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.setsockopt(zmq.RCVHWM, 0)
        socket.connect(str(daemon.config["publish"]["address"]))
        socket.subscribe("")
        end: float | None = None
        while end is None or time.monotonic() < end:
            if not socket.poll(100):
                continue
            topic, message = socket.recv_multipart()
            if topic.endswith(b"/prediction"):
                end = end or time.monotonic() + seconds
                ages.append(json.loads(message)["seconds"]["total"])
    return ages


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--fps", type=float, default=30.0, help="of each camera")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--curve", action="store_true", help="over TCP with keys, in place of ipc")
    parser.add_argument("--others", type=float, default=math.inf, help="processors that others may keep busy")
    parser.add_argument("--json", type=Path, help="add the figures to this file, a line each")
    options = parser.parse_args()
    print(" cameras workers  offered      fps  µs each   CPU  p50 ms  p99 ms     MB")
    for count, served in itertools.product(options.cameras, options.workers):
        borne = measure(
            Load(count, served, options.fps, options.batch, options.curve), options.seconds, options.others
        )
        print(
            f"{count:8}{served:8}{count * options.fps:9.0f}{borne.fps:9.0f}"
            f"{borne.cpu_us:9.0f}{borne.cpu_share:6.0%}"
            f"{borne.p50_ms:8.1f}{borne.p99_ms:8.1f}{borne.rss_mb:7.1f}",
            flush=True,
        )
        if options.json:
            with options.json.open("a") as file:
                file.write(json.dumps(asdict(borne)) + "\n")


if __name__ == "__main__":
    main()
