"""What `edged batch` costs, and how it scales over Ray actors: `python -m bench.batch`.

Each way classifies the same photographs, in turns; printed are the medians of the rounds. Alone: seconds and
processor seconds from the loading of the model to the last answer, beside a plain loop of `edged.Model`, each in
its own process. On Ray, with one thread an actor: pictures a second, and processor time a picture, from when each
actor has written two files until the last two of each are due: the start of a cluster is no matter of scaling.

Where other programs are busy, processor times are the figures to compare.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import cv2
import numpy as np
import psutil

from edged.runtime.threads import limit_threads
from tests.batch.ray_cluster import RayCluster, ray_cluster

CHUNK = 10
POLL_S = 0.05
Way = TypeVar("Way", int, str)
WAYS = ("plain", "batch")
ALL = 0  # threads


@dataclass(frozen=True)
class Cost:
    """Seconds, and those of the processors, of a run or of a picture."""

    seconds: float
    cpu_s: float


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description="What `edged batch` costs, and how it scales over Ray actors.")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--size", type=int, default=120)
    parser.add_argument("--picture", default="640x480", help="size of the photographs")
    parser.add_argument("--pictures", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--actors", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--threads", type=int, nargs="*", default=[ALL, 1], help="of the runs alone; 0: all")
    arguments = parser.parse_args()
    print(f"{arguments.model}@{arguments.size}, {arguments.pictures} JPEGs of {arguments.picture}")
    with TemporaryDirectory() as folder:
        archive = photographs(Path(folder) / "archive", arguments.picture, arguments.pictures)
        for threads in arguments.threads:
            compare_alone(arguments, archive, Path(folder), threads)
        if arguments.actors:
            compare_actors(arguments, archive, Path(folder))


def photographs(folder: Path, size: str, count: int) -> Path:
    """JPEGs of blurred noise: 110 kB each at 640x480, as of a camera."""
    folder.mkdir()
    width, height = map(int, size.split("x"))
    random = np.random.default_rng(0)
    for number in range(count):
        pixels = cv2.GaussianBlur(random.integers(0, 256, (height, width, 3), np.uint8), (0, 0), 3)
        stretched = np.clip((pixels.astype(np.int16) - 128) * 8 + 128, 0, 255).astype(np.uint8)
        assert cv2.imwrite(str(folder / f"{number:06}.jpg"), stretched)
    return folder


def compare_alone(arguments: argparse.Namespace, archive: Path, folder: Path, threads: int) -> None:
    """Print what the same pictures cost in a plain loop and by `edged batch`."""
    runs = {way: partial(in_a_process, way, arguments, archive, folder, threads) for way in WAYS}
    found = in_turns(runs, arguments.rounds)
    for way, costs in found.items():
        print(f"{way:6} {threads or 'all'} threads: {described(costs)}", flush=True)
    for what in ("seconds", "cpu_s"):
        pairs = zip(found["plain"], found["batch"], strict=True)
        ratio = median(getattr(batch, what) / getattr(plain, what) for plain, batch in pairs)
        print(f"  overhead in {what}, median of the rounds' ratios: {100 * (ratio - 1):+.1f} %", flush=True)
    print(f"  {load()}", flush=True)


def compare_actors(arguments: argparse.Namespace, archive: Path, folder: Path) -> None:
    """Print the pictures a second, the processor time and the efficiency of each number of actors."""
    os.environ.update({"RAY_worker_niceness": "0"})  # Ray's own default yields to all other programs
    with ray_cluster(devices=max(arguments.actors)) as cluster:
        runs = {n: partial(on_ray, arguments, archive, folder, cluster, n) for n in arguments.actors}
        found = in_turns(runs, arguments.rounds)
    first, one = next(iter(found.items()))
    for actors, costs in found.items():
        pairs = list(zip(one, costs, strict=True))
        faster = median(alone.seconds / each.seconds for alone, each in pairs) * first / actors
        cpu = median(alone.cpu_s / each.cpu_s for alone, each in pairs)
        rate = median(1 / each.seconds for each in costs)
        each_ms = 1000 * median(each.cpu_s for each in costs)
        print(
            f"{actors} actors: {rate:.1f} pictures/s, efficiency {faster:.2f}; "
            f"{each_ms:.1f} ms of a processor each, efficiency {cpu:.2f}",
            flush=True,
        )
    print(f"  {load()}")


def in_turns(runs: Mapping[Way, Callable[[int], Cost]], rounds: int) -> dict[Way, list[Cost]]:
    """Measure each way once a round, in another order each time; a first round only warms caches."""
    found: dict[Way, list[Cost]] = {way: [] for way in runs}
    for turn in range(rounds + 1):
        for way in list(runs)[:: 1 if turn % 2 else -1]:
            cost = runs[way](turn)
            if turn:
                found[way].append(cost)
    return found


def in_a_process(
    way: str, arguments: argparse.Namespace, archive: Path, folder: Path, threads: int, turn: int
) -> Cost:
    """Run a way in a process of its own."""
    output = folder / f"{way}-{threads}-{turn}"
    script = f"from bench.batch import {way}_cost; print(*{way}_cost(*__import__('sys').argv[1:]))"
    values = [arguments.model, arguments.size, threads, archive, output]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, values)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seconds, cpu_s = map(float, done.stdout.split()[-2:])
    return Cost(seconds, cpu_s)


def plain_cost(model: str, size: str, threads: str, archive: str, _output: str) -> tuple[float, float]:
    """Classify as a user's own loop would; return seconds, and those of the processors."""
    limit_threads(int(threads) or None)
    from edged import Model

    start, cpu = time.perf_counter(), time.process_time()
    with Model(model, size=int(size)) as network:
        answers = [(path, network.top(network(path))) for path in sorted(Path(archive).iterdir())]
    assert answers
    return time.perf_counter() - start, time.process_time() - cpu


def batch_cost(model: str, size: str, threads: str, archive: str, output: str) -> tuple[float, float]:
    """Classify by `edged batch`; return seconds, and those of the processors."""
    limit_threads(int(threads) or None)
    from edged.cli import run_command_line

    import_module("edged.cli.batch.archive_run")  # as the plain loop has loaded its modules, too

    limits = ["--threads", threads] if int(threads) else []
    start, cpu = time.perf_counter(), time.process_time()
    assert run_command_line([*command_of(model, size, archive, output), *limits]) == 0
    return time.perf_counter() - start, time.process_time() - cpu


def on_ray(
    arguments: argparse.Namespace, archive: Path, folder: Path, cluster: RayCluster, actors: int, turn: int
) -> Cost:
    """Run on so many actors; return the cost of a picture while all of them work."""
    output = folder / f"ray-{actors}-{turn}"
    options = ["--ray", cluster.address, "--actors", str(actors), "--threads", "1", "--chunk", str(CHUNK)]
    command = command_of(arguments.model, str(arguments.size), str(archive), str(output))
    chunks = -(-arguments.pictures // CHUNK)
    with (folder / "messages.txt").open("w") as messages:
        running = subprocess.Popen(
            [sys.executable, "-m", "edged", *command, *options],
            env=cluster.environment,
            stdout=messages,
            stderr=messages,
        )
        begin = _sample_at(2 * actors, output, cluster, running)
        end = _sample_at(chunks - 2 * actors, output, cluster, running)
        assert running.wait() == 0, (folder / "messages.txt").read_text()
    pictures = CHUNK * (end[0] - begin[0])
    return Cost((end[1] - begin[1]) / pictures, (end[2] - begin[2]) / pictures)


def command_of(model: str, size: str, archive: str, output: str) -> list[str]:
    return ["batch", model, "--size", size, "--input", archive, "--output", output, "--quiet"]


def _sample_at(
    count: int, output: Path, cluster: RayCluster, running: "subprocess.Popen[bytes]"
) -> tuple[int, float, float]:
    """Wait for so many files; return how many there are, when, and the actors' processor time until then."""
    while (files := len(list(output.rglob("part-*.parquet")))) < count and running.poll() is None:
        time.sleep(POLL_S)
    return files, time.perf_counter(), _cpu_s(cluster.actors())


def _cpu_s(processes: Sequence[psutil.Process]) -> float:
    seconds = 0.0
    for process in processes:
        with suppress(psutil.Error):
            seconds += sum(process.cpu_times()[:2])
    return seconds


def described(costs: list[Cost]) -> str:
    """Medians and ranges."""
    seconds, cpu = [each.seconds for each in costs], [each.cpu_s for each in costs]
    return (
        f"{median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}), "
        f"of processors {median(cpu):.2f} s ({min(cpu):.2f} to {max(cpu):.2f})"
    )


def load() -> str:
    """What else the machine has to do."""
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


if __name__ == "__main__":
    main()
