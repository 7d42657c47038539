"""`edged profile --attach`: time the layers of a running worker after its answers, and state what that costs."""

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import msgspec

from edged.cli.daemon_client import connect_daemon, record
from edged.cli.options import add_duration, duration, positive
from edged.cli.profile.report import MS, Report, Subject
from edged.engine.device import list_devices
from edged.engine.job import KernelTime
from edged.engine.launch_cost import LaunchCost
from edged.engine.peaks import Peaks, cached_peaks
from edged.engine.profile import Profile, Run
from edged.errors import ConfigError, EdgedError
from edged.messages import JobTimes, ProfileRequest, RecorderHello, WorkerHello
from edged.messages.recording import LONGEST_PROFILE_S
from edged.system.machine_state import Account, Turn, watch
from edged.system.plain_text import counted
from edged.system.terminal import note
from edged.tracing.recording import RecordedProcess

# Options that --attach excludes, since the worker decides, with their defaults.
WORKER_DECIDES = {
    "device": "auto",
    "batch": 1,
    "precision": "fp32",
    "conv": "auto",
    "compare": None,
    "model": "digits",
}
ONLY_ATTACHED = ("worker", "count", "duration")
FRAMES, SECONDS = 100, 60.0


def add_attach_options(parser: argparse.ArgumentParser) -> None:
    """Add --attach, and the options that need it."""
    parser.add_argument(
        "--attach",
        nargs="?",
        const="",
        metavar="CONFIG",
        help="profile a worker of the running daemon instead: its config, or the unix:// address of its private "
        "link (default: that of the demo)",
    )
    parser.add_argument("--worker", metavar="NAME", help="with --attach: the worker, if several run")
    count = f"with --attach: exit after N frames (default: {FRAMES})"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    longest = f"with --attach: exit after this time at the latest (default: {SECONDS:g}s)"
    add_duration(parser, longest, type=duration(LONGEST_PROFILE_S))


def check_attach_options(arguments: argparse.Namespace) -> None:
    """Raises ConfigError for options that exclude each other."""
    if arguments.attach is None:
        if given := [name for name in ONLY_ATTACHED if getattr(arguments, name) is not None]:
            raise ConfigError(f"--{given[0]} requires --attach")
        return
    if given := [name for name, default in WORKER_DECIDES.items() if getattr(arguments, name, default) != default]:
        raise ConfigError(f"--attach profiles a worker as it runs: remove --{given[0]}")
    if arguments.trace:
        raise ConfigError("--attach has no --trace: use `edged trace --layers`, which shows the kernels too")


S = 1e-9


@dataclass(frozen=True)
class Timed:
    """The times of a job as its worker reported them: see `Result`."""

    upload_s: float
    forward_s: float
    download_s: float
    kernels: tuple[KernelTime, ...]


@dataclass(frozen=True, eq=False)
class Attached:
    """`report`: of the jobs whose layers were timed; `others`: jobs between them whose layers were not."""

    report: Report
    others: Sequence[Run]
    reading_s: float

    def as_table(self) -> str:
        """Format the table of `edged profile`, and what the profiling cost the worker."""
        lines = [
            self.report.as_table(),
            f"overhead of reading the timers: {self.reading_s * MS:.3f} ms a job, after its answer",
        ]
        if self.others:
            ours, (forward_s, wall_s) = self.report.profile, self._without()
            lines.append(
                f"jobs without timers: forward {forward_s * MS:.3f} ms against "
                f"{ours.forward_s * MS:.3f}, wall time {wall_s * MS:.3f} ms against {ours.wall_s * MS:.3f} "
                f"(medians of {len(self.others)})"
            )
        return "\n".join(lines)

    def as_object(self) -> dict[str, Any]:
        """Return the profile for JSON, in seconds."""
        forward_s, wall_s = self._without() if self.others else (None, None)
        without = {"jobs": len(self.others), "forward": forward_s, "wall": wall_s}
        cost = {"reading": self.reading_s, "without": without}
        return {**self.report.as_object(), "worker": self.report.subject.worker, "cost": cost}

    def _without(self) -> tuple[float, float]:
        return median(run.result.forward_s for run in self.others), median(run.wall_s for run in self.others)


def attach(arguments: argparse.Namespace) -> Attached:
    """Profile a running worker. Raises EdgedError if there is none, or if it got no frame."""
    frames, seconds = arguments.count or FRAMES, arguments.duration or SECONDS
    request = ProfileRequest(worker=arguments.worker, frames=frames, seconds=seconds)
    with (
        watch(computes=True, most_others=math.inf) as machine,  # the daemon is one of the others
        connect_daemon(arguments.attach or None, "profile") as daemon,
    ):
        recording, turn = machine.during(lambda: record(daemon, request))
    name = recording.started.worker
    process = recording.processes.get(f"worker/{name}", RecordedProcess())
    if process.hello is None or process.recorder is None or not any(map(_kernels, process.jobs)):
        lost = recording.ended and recording.ended.reason == "lost"
        why = "was lost meanwhile" if lost else f"got no frame in {seconds:g} s: are its cameras up?"
        raise EdgedError(f"worker {name} {why}")
    if recording.ended and recording.ended.reason != "frames":
        note(f"fewer than {counted(frames, 'frame')}: the recording ended by {recording.ended.reason}")
    return _attached(process, process.recorder, process.hello, turn)


def _attached(process: RecordedProcess, recorder: RecorderHello, hello: WorkerHello, turn: Turn) -> Attached:
    """Build the report from the jobs of the most frequent batch size, recorded in one turn of the machine."""
    frames, _ = Counter(job.frames for job in process.jobs if _kernels(job)).most_common(1)[0]
    costs = [LaunchCost(*msgspec.structs.astuple(cost)) for cost in recorder.costs]
    runs = [(job, run) for job, run in _runs(process.jobs, costs) if job.frames == frames]
    timed = tuple(run for _, run in runs if run.result.kernels)
    model = hello.model
    subject = Subject(
        model.name,
        model.width,
        model.height,
        sum(cost.macs for cost in costs) // hello.batch,
        model.random_weights,
        hello.device,
        hello.precision,
        "auto",
        hello.worker,
    )
    profile = Profile(frames, timed, tuple(cost.for_frames(frames, hello.batch) for cost in costs))
    return Attached(
        Report(subject, _peaks(recorder, hello), profile, _account(hello, turn, len(timed))),
        [run for _, run in runs if not run.result.kernels],
        median(job.reading_s for job, run in runs if run.result.kernels),
    )


def _runs(jobs: Sequence[JobTimes], costs: Sequence[LaunchCost]) -> Iterator[tuple[JobTimes, Run]]:
    """Convert jobs to runs. A job begins when the one before it is done, even if it was submitted earlier."""
    before_ns = 0
    for job in jobs:
        begun_ns = max(job.begun_ns, before_ns)
        submit_ns, before_ns = job.submitted_ns - job.begun_ns, job.done_ns
        first_ns = job.device.forward[0] if job.device else 0
        kernels = tuple(
            KernelTime(cost.operator, cost.kernel, (start_ns - first_ns) * S, (end_ns - start_ns) * S)
            for cost, (start_ns, end_ns) in zip(costs, _kernels(job), strict=False)
        )
        result = Timed(job.upload_s, job.forward_s, job.download_s, kernels)
        yield job, Run(begun_ns * S, (begun_ns + submit_ns) * S, job.done_ns * S, result)


def _kernels(job: JobTimes) -> tuple[tuple[int, int], ...]:
    return job.device.kernels if job.device else ()


def _account(hello: WorkerHello, turn: Turn, runs: int) -> Account | None:
    """Return the state of the machine during the runs, if its processors made them."""
    if hello.host or not any(device.name == hello.device and device.kind == "cpu" for device in list_devices()):
        return None
    return Account.of([turn.state] * runs)


def _peaks(recorder: RecorderHello, hello: WorkerHello) -> Peaks | None:
    """Find the measured peaks of the device: the worker's, or this user's of the same device."""
    if recorder.peaks:
        return Peaks(*recorder.peaks)
    here = (cached_peaks(device) for device in list_devices() if device.name == hello.device)
    return next((peaks for peaks in here if peaks), None)
