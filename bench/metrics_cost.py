"""What metrics cost: `python -m bench.metrics_cost`, with and without them in turn, in one run.

- `hub`: the hub with 64 cameras and workers that answer at once, at a rate that it bears;
- `resnet50`: the whole pipeline with a real worker, as many frames as it can answer;
- `scrapes`: how long one takes with 64 cameras, and how old predictions get meanwhile.
"""

import argparse
import gzip
import json
import math
import signal
import threading
import time
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

from bench.hub_load import WARM_S, Load, heard, hub, swarm
from bench.metrics_in_turns import SLICE_S
from bench.throughput import Case, started
from tests.e2e.daemon import Daemon
from tests.eventually import LIMIT_S, in_background

IN_TURNS = "bench.metrics_in_turns"
SCRAPE_S = 0.5

Slice = tuple[bool, int, float]  # on, predictions, seconds of the hub's processor


def of_hub(seconds: float) -> None:
    """64 cameras at 10 frames a second, 4 workers."""
    load = Load(cameras=64, workers=4, fps=10)
    with TemporaryDirectory() as name:
        compare("hub", hub(load, Path(name), IN_TURNS), load, seconds)


def of_pipeline(seconds: float) -> None:
    """8 cameras that give what the CPU can answer of ResNet-50."""
    case = Case("resnet50", [{"device": "cpu"}])
    with TemporaryDirectory() as name:
        compare("resnet50", started(case, Path(name), IN_TURNS), Load(case.cameras, 0, case.fps), seconds)


def compare(name: str, running: AbstractContextManager[Daemon], load: Load, seconds: float) -> None:
    """Medians of the ratios of neighbouring slices, and the middle half of them."""
    with running as daemon, swarm(load, daemon):
        heard(daemon, WARM_S)
        heard(daemon, seconds)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.process.wait(LIMIT_S)
        slices: list[Slice] = json.loads(daemon.log().splitlines()[-1])["slices"]
    slices = slices[-round(seconds / SLICE_S) : -1]
    pairs = [sorted(pair, reverse=True) for pair in pairwise(slices) if pair[0][1] and pair[1][1]]
    fps = [on[1] / off[1] for on, off in pairs]
    cpu = [on[2] / on[1] / (off[2] / off[1]) for on, off in pairs]
    us = 1e6 * median(cpu_s / predictions for _, predictions, cpu_s in slices if predictions)
    print(
        f"{name}: {median(each[1] for each in slices) / SLICE_S:.0f} fps, {us:.0f} µs of the hub each", flush=True
    )
    for what, ratios in (("throughput", fps), ("CPU of the hub", cpu)):
        low, middle, high = quantiles(ratios, n=4)
        print(
            f"{name}: {what} with metrics {middle:.3f} of that without ({low:.3f} to {high:.3f}, "
            f"{len(ratios)} pairs)",
            flush=True,
        )


def scrapes(seconds: float) -> None:
    """64 cameras with 10 frames a second: ages without, and with two scrapes a second."""
    load = Load(cameras=64, workers=4, fps=10)
    with TemporaryDirectory() as name, hub(load, Path(name)) as daemon, swarm(load, daemon):
        heard(daemon, WARM_S)
        for every_s in (math.inf, SCRAPE_S):
            took_s: list[float] = []
            with in_background(partial(scrape_again, daemon, every_s, took_s)):
                ages = sorted(heard(daemon, seconds))
            told = f"{1000 * median(took_s):.1f} ms (at best {1000 * min(took_s):.1f})" if took_s else "none"
            p50, p99 = (1000 * ages[len(ages) * part // 100] for part in (50, 99))
            print(f"scrapes: {told}; ages p50 {p50:.1f} ms, p99 {p99:.1f} ms", flush=True)


def scrape_again(daemon: Daemon, every_s: float, took_s: list[float], stopped: threading.Event) -> None:
    """As Prometheus does, until it is stopped."""
    url = f"http://{daemon.config['metrics']['address']}/metrics"
    while not stopped.wait(min(every_s, threading.TIMEOUT_MAX)):
        start = time.perf_counter()
        with urlopen(Request(url, headers={"Accept-Encoding": "gzip"}), timeout=LIMIT_S) as answer:
            body = answer.read()
        took_s.append(time.perf_counter() - start)
        assert b"edged_stage_seconds_bucket" in gzip.decompress(body)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=30.0)
    cases = {"scrapes": scrapes, "hub": of_hub, "resnet50": of_pipeline}
    parser.add_argument("--only", choices=cases, action="append")
    options = parser.parse_args()
    for name in options.only or cases:
        cases[name](options.seconds)


if __name__ == "__main__":
    main()
