"""What metrics cost: `python -m tests.perf.metrics_cost`, daemons with and without them in turn.

- `hub`: the hub alone with many cameras and workers that answer at once, at a rate that it bears;
- `resnet50`: the whole pipeline with a real worker, as many frames as it can answer;
- `scrapes`: how long one takes with 64 cameras, and how old predictions get meanwhile.
"""

import argparse
import gzip
import math
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

import psutil

from tests.background import in_background
from tests.e2e.daemon import Daemon
from tests.perf.hub_load import WARM_S, Load, heard, hub, swarm
from tests.perf.throughput import Case, started

MODULES = {"on": "edged", "off": "tests.perf.unmeasured"}
SCRAPE_S = 5.0  # twice as often as deploy/prometheus does


@dataclass(frozen=True)
class Cost:
    """Predictions a second, and what one takes of the processor, of all of the daemon's processes."""

    fps: float
    cpu_us: float


def of_hub(module: str, seconds: float) -> Cost:
    """64 cameras at 10 frames a second, 4 workers."""
    load = Load(cameras=64, workers=4, fps=10)
    with TemporaryDirectory() as name, hub(load, Path(name), module) as daemon, swarm(load, daemon):
        return measured(daemon, seconds, scraped=module == "edged")


def of_pipeline(module: str, seconds: float, folder: Path) -> Cost:
    """8 cameras that give what the CPU can answer of ResNet-50."""
    case = Case("resnet50", [{"device": "cpu"}])
    with started(case, folder, module) as daemon, swarm(Load(case.cameras, 0, case.fps), daemon):
        return measured(daemon, seconds, scraped=module == "edged")


def measured(daemon: Daemon, seconds: float, *, scraped: bool) -> Cost:
    """Once it is warm; `scraped`: now and then, meanwhile."""
    heard(daemon, WARM_S)
    before, start = cpu_s(daemon), time.monotonic()
    with in_background(partial(scrape_again, daemon, SCRAPE_S if scraped else math.inf, [])):
        count = len(heard(daemon, seconds))
    return Cost(count / (time.monotonic() - start), 1e6 * (cpu_s(daemon) - before) / max(1, count))


def cpu_s(daemon: Daemon) -> float:
    """What the hub and its children have taken so far."""
    spent = [process.cpu_times() for process in (psutil.Process(daemon.process.pid), *daemon.children())]
    return float(sum(times.user + times.system for times in spent))


def scrape_again(daemon: Daemon, every_s: float, took_s: list[float], stopped: threading.Event) -> None:
    """As Prometheus does, until it is stopped."""
    url = f"http://{daemon.config['metrics']['address']}/metrics"
    while not stopped.wait(min(every_s, threading.TIMEOUT_MAX)):
        start = time.perf_counter()
        with urlopen(Request(url, headers={"Accept-Encoding": "gzip"}), timeout=10) as answer:
            text = gzip.decompress(answer.read())
        took_s.append(time.perf_counter() - start)
        assert b"edged_stage_seconds_bucket" in text


def compare(name: str, measure: Callable[[str], Cost], rounds: int) -> None:
    """In turn, each first in half of the rounds: medians of the ratios of a round."""
    ratios: list[tuple[float, float]] = []
    for number in range(rounds):
        order = list(MODULES)[:: 1 if number % 2 else -1]
        costs = {which: measure(MODULES[which]) for which in order}
        on, off = costs["on"], costs["off"]
        ratios.append((on.fps / off.fps, on.cpu_us / off.cpu_us))
        print(
            f"  {name}: on {on.fps:.0f} fps, {on.cpu_us:.0f} µs each; off {off.fps:.0f} fps, {off.cpu_us:.0f} µs",
            flush=True,
        )
    for what, values in zip(("throughput", "CPU"), zip(*ratios, strict=True), strict=True):
        low, high = min(values), max(values)
        print(
            f"{name}: {what} with metrics {median(values):.3f} of that without ({low:.3f} to {high:.3f})",
            flush=True,
        )


def scrapes(seconds: float) -> None:
    """64 cameras with 30 frames a second: ages without and with a scrape after the other."""
    load = Load(cameras=64, workers=4, fps=20)
    with TemporaryDirectory() as name, hub(load, Path(name)) as daemon, swarm(load, daemon):
        heard(daemon, WARM_S)
        for every_s in (math.inf, 0.5):
            took_s: list[float] = []
            with in_background(partial(scrape_again, daemon, every_s, took_s)):
                ages = sorted(heard(daemon, seconds))
            told = f"{1000 * median(took_s):.1f} ms (at most {1000 * max(took_s):.1f})" if took_s else "none"
            p50, p99 = (1000 * ages[len(ages) * part // 100] for part in (50, 99))
            print(
                f"scrapes: {told}; ages p50 {p50:.1f}, p99 {p99:.1f}, at most {1000 * ages[-1]:.1f} ms", flush=True
            )


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=6.0)
    options = parser.parse_args()
    scrapes(options.seconds)
    compare("hub", partial(of_hub, seconds=options.seconds), options.rounds)
    with TemporaryDirectory() as name:
        compare("resnet50", partial(of_pipeline, seconds=options.seconds, folder=Path(name)), options.rounds)


if __name__ == "__main__":
    main()
