"""Compile in other processes: a network's kernels side by side, and one launch while jobs go on.

A compiler works on one program at a time, and PoCL's holds a lock for all threads of its process.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edged.engine.apart import read_request, run_apart
from edged.engine.device import Device, open_device
from edged.engine.launch import Launch
from edged.engine.opencl import cl
from edged.engine.programs import Binaries, Programs, progress, progress_of
from edged.errors import DeviceError
from edged.system.plain_text import counted

log = logging.getLogger(__name__)

MODULE = "edged.engine.compile_apart"
MOST_PROCESSES = 4  # each takes 150 MB for PoCL's compiler
MOST_LAUNCHES = 2  # that are compiled at once: each takes several times as much, beside jobs
FEWEST_KERNELS = 8  # of a process, whose start takes as long as compiling two
LOWEST_PRIORITY = 19
KILLED_FIRST = "1000"  # proc(5), oom_score_adj


def prepare_programs(programs: Programs, launches: Sequence[Launch]) -> None:
    """Load or compile the programs of all launches, and log progress from time to time. Raises DeviceError.

    Many are compiled side by side, in a process for each processor. What another process could not compile, this
    one does.
    """
    missing = programs.missing(launches)
    if not missing:
        return
    count = processes_for(programs.device, len(missing))
    what = f"{counted(len(missing), 'kernel')} for {programs.device.name}"
    with progress_of(what), _side_by_side(programs, [missing[begin::count] for begin in range(1, count)]):
        for done, launch in enumerate(missing[::count], 1):
            programs.fitting(launch)
            programs.save()
            progress.info("compiling %s: %d done", what, done * count)
    for launch in programs.missing(missing):
        programs.fitting(launch)
    programs.save()


def processes_for(device: Device, kernels: int) -> int:
    """Return how many processes compile so many kernels: one for a GPU, whose compiler may lock out others."""
    if device.kind != "cpu":
        return 1
    return max(1, min(MOST_PROCESSES, len(os.sched_getaffinity(0)), kernels // FEWEST_KERNELS))


@contextmanager
def _side_by_side(programs: Programs, shares: Sequence[Sequence[Launch]]) -> Iterator[None]:
    """Compile each share in a process of its own meanwhile; wait for all of them in the end."""
    with ThreadPoolExecutor(max(1, len(shares)), "compile") as waiting:
        others = [waiting.submit(_compile_share, programs, share) for share in shares]
        yield
    for other in others:
        _report(other)


def _compile_share(programs: Programs, share: Sequence[Launch]) -> None:
    request = {"cache": str(programs.folder), "launches": [_described(launch) for launch in share]}
    run_apart(MODULE, programs.device, request, f"compilation of {counted(len(share), 'kernel')} side by side")


def _report(other: "Future[None]") -> None:
    try:
        other.result()
    except DeviceError as error:
        log.warning("%s; they are compiled one by one", error)


def _described(launch: Launch) -> dict[str, Any]:
    """Return what `main` makes a launch of, as JSON: a program depends on nothing else."""
    return {
        "kernel": launch.kernel,
        "operator": launch.operator,
        "defines": launch.defines,
        "group": launch.group,
        "frames_last": launch.frames_last,
    }


def compile_launches(programs: Programs, sources: Sequence[str]) -> None:
    """Compile compositions into the cache, while jobs go on. Raises DeviceError.

    A compiler takes seconds and memory, and may end its process.
    """
    with ThreadPoolExecutor(MOST_LAUNCHES, "compile") as waiting:
        list(waiting.map(lambda source: _compile_launch(programs, source), sources))


def _compile_launch(programs: Programs, source: str) -> None:
    request = {"cache": str(programs.folder), "source": source}
    run_apart(MODULE, programs.device, request, "compilation for one launch")


def main() -> None:
    """Be such a process, the first to be killed where memory runs out. Raises DeviceError."""
    device, request = read_request()
    Path("/proc/self/oom_score_adj").write_text(KILLED_FIRST)
    programs = Programs(cl.Context([open_device(device)]), device, Binaries(Path(request["cache"])))
    if "source" in request:
        os.nice(LOWEST_PRIORITY)
        programs.composed(request["source"])
    for described in request.get("launches", ()):
        programs.fitting(Launch(**described, arguments=(), items=1))
        programs.save()
    programs.save()


if __name__ == "__main__":
    main()
