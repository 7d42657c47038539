"""What workers answer at saturation, and how old that is: `python -m tests.perf.throughput threads|batch`.

Hub and workers are real, cameras are simulated (see `swarm`), so that they take little of the processor. The cases
take turns, and a measurement in which others took more than a little of the processors is done again: what counts
is the median of the rounds. Nothing here is a test: how fast a machine is, is nobody's promise.
"""

import argparse
import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from tests.e2e.daemon import Daemon, run_edged
from tests.eventually import free_port
from tests.perf.hub_load import Load, heard, swarm
from tests.perf.quiet import undisturbed, wait_for_quiet

MODEL = {"name": "resnet50", "size": 120}
WARM_S = 1.0


@dataclass(frozen=True)
class Case:
    """`workers`: as in the config; `cameras` offer `fps` frames a second each, or as many as are wanted."""

    name: str
    workers: list[dict[str, Any]]
    cameras: int = 8
    fps: float = math.inf


def thread_cases(batch: int) -> list[Case]:
    """One thread, then two in two workers."""
    one = {"device": "cpu", "threads": 1, "group": "all", "batch": batch}
    return [Case("one worker", [one]), Case("two workers", [one, one])]


def batch_cases(batches: list[int], max_wait_s: float) -> list[Case]:
    """Eight cameras that give what one worker can answer, then one that gives little."""
    workers = {batch: [{"device": "cpu", "batch": batch, "max_wait_s": max_wait_s}] for batch in batches}
    return [Case(f"batch {batch}", worker) for batch, worker in workers.items()] + [
        Case(f"batch {batch}, 5 fps", worker, cameras=1, fps=5.0) for batch, worker in workers.items()
    ]


def measure(case: Case, folder: Path, seconds: float, most: float) -> list[float]:
    """The ages of what is published in so many seconds, in which others keep so few processors busy."""
    ages: list[float] | None = None
    while ages is None:
        wait_for_quiet(most)
        with started(case, folder) as daemon, swarm(Load(case.cameras, 0, case.fps), daemon):
            heard(daemon, WARM_S)
            ages = undisturbed(lambda: heard(daemon, seconds), most)
    return ages


@contextmanager
def started(case: Case, folder: Path, module: str = "edged") -> Iterator[Daemon]:
    """A daemon whose cameras come from elsewhere; its cache stays for the next one."""
    config: dict[str, Any] = {
        "node": "test",
        "cameras": {f"c{index}": {"source": 0, "host": "swarm"} for index in range(case.cameras)},
        "model": MODEL,
        "workers": case.workers,
        "publish": {"address": f"ipc://{folder}/pub", "replay": f"ipc://{folder}/replay"},
        "metrics": {"address": f"127.0.0.1:{free_port()}"},
        "link": {"address": f"ipc://{folder}/link"},
    }
    with run_edged(folder, config=config, module=module) as daemon:
        yield daemon


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that no daemon is left behind
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("threads", "batch"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--others", type=float, default=0.1, help="processors that others may keep busy")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--max-wait-s", type=float, default=0.0)
    options = parser.parse_args()
    if options.what == "threads":
        cases = thread_cases(options.batches[0])
    else:
        cases = batch_cases(options.batches, options.max_wait_s)
    fps: dict[str, list[float]] = {case.name: [] for case in cases}
    age: dict[str, list[float]] = {case.name: [] for case in cases}
    with TemporaryDirectory() as name:
        for _ in range(options.rounds):
            for case in cases:
                ages = measure(case, Path(name), options.seconds, options.others)
                fps[case.name].append(len(ages) / options.seconds)
                age[case.name].append(1000 * median(ages))
                print(f"{case.name}: {fps[case.name][-1]:.1f}/s", flush=True)
    print(f"\n{'':20} {'frames/s':>9} {'ratio':>6} {'age ms':>7}")
    first = fps[cases[0].name]
    for case in cases:
        ratio = median(here / there for here, there in zip(fps[case.name], first, strict=True))
        print(f"{case.name:20} {median(fps[case.name]):9.1f} {ratio:6.2f} {median(age[case.name]):7.1f}")


if __name__ == "__main__":
    main()
