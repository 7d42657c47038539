"""A contender in a process of its own, which sleeps between its turns: measured as if it were alone.

The libraries' own threads, pages and caches do not meet, and each takes its settings from its own environment.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from bench.peers.cases import Case, Run, load_case
from bench.peers.contenders import CONTENDERS
from bench.peers.ours import Ours
from edged.model.reference import Array
from edged.system.processor_use import processor_time_s

SETTLE_S = 0.03  # of runs that are not timed, at the start of a turn: caches, and threads that have slept
IDLE_S, IDLE_SHARE = 0.005, 0.1  # a process is idle when it ran for less than this share of so long a time
SPIN_S = 1.0  # the longest that a library's threads may spin after its last run


class MissingError(Exception):
    """A contender that does not run on this machine; its text says why."""


class Contender:
    """The parent's end of the process."""

    def __init__(self, name: str, process: "subprocess.Popen[str]") -> None:
        self.name = name
        self._process = process

    @classmethod
    def start(cls, name: str, case: str, threads: int, device: str, log: Path) -> Self:
        """Start the process; what the libraries print goes to `log`."""
        task = json.dumps({"name": name, "case": case, "threads": threads, "device": device})
        command, pipe = [sys.executable, "-m", "bench.peers.contender", task], subprocess.PIPE
        with log.open("a") as printed:
            process = subprocess.Popen(
                command, env=environment(threads, device), stdin=pipe, stdout=pipe, stderr=printed, text=True
            )
        return cls(name, process)

    def scores(self) -> tuple[Array, int]:
        """Return its scores [batch, classes] and the bytes of its weights once ready. Raises MissingError."""
        answer = self._read()
        return np.array(answer["scores"]), answer["weight_bytes"]

    def run_for(self, seconds: float) -> list[float]:
        """Return the seconds of each run of a turn that lasts so long, one at least. Raises MissingError."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # it has ended; what it answers says how
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
        return [float(each) for each in self._read()["times"]]

    def wait_until_idle(self) -> None:
        """Wait until its threads sleep: OpenMP's spin for a while after the last run."""
        end = time.monotonic() + SPIN_S
        while time.monotonic() < end:
            before = processor_time_s(self._process.pid)
            time.sleep(IDLE_S)
            if processor_time_s(self._process.pid) - before < IDLE_SHARE * IDLE_S:
                return

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise MissingError(f"its process ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise MissingError(answer["missing"])
        return answer


def environment(threads: int, device: str) -> dict[str, str]:
    """Add what the OpenCL libraries read here alone: PoCL its threads, OpenCV and tinygrad their device."""
    kind = {"cpu": ":CPU:", "gpu": ":GPU:"}
    return os.environ | {
        "POCL_MAX_PTHREAD_COUNT": str(threads),
        "OPENCV_DNN_OPENCL_ALLOW_ALL_DEVICES": "1",
        "OPENCV_OPENCL_DEVICE": kind.get(device, ""),
        "DEV": "CL",
    }


def timed_runs(run: Run, seconds: float, settle_s: float = SETTLE_S) -> list[float]:
    """Run for `settle_s` untimed, then for `seconds`; return the seconds of each timed run."""
    settled = time.perf_counter() + settle_s
    while time.perf_counter() < settled:
        run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def main(arguments: Sequence[str]) -> None:
    """Answer on what was the standard output; what libraries print there goes to the log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    task = json.loads(arguments[0])
    try:
        run, case = _prepared(task)
        scores = run()
    except Exception as problem:  # a library may fail in any way, and the table says in which
        text = f"{type(problem).__name__}: {problem}".splitlines()[0][:150]
        print(json.dumps({"missing": text}), file=answers, flush=True)
        return
    weight_bytes = run.weight_bytes if isinstance(run, Ours) else case.weight_bytes
    print(json.dumps({"scores": scores.tolist(), "weight_bytes": weight_bytes}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps({"times": timed_runs(run, float(line))}), file=answers, flush=True)


def _prepared(task: dict[str, Any]) -> tuple[Run, Case]:
    case = load_case(task["case"])
    return CONTENDERS[task["name"]](case, task["threads"], task["device"]), case


if __name__ == "__main__":
    main(sys.argv[1:])
