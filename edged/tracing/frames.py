"""Reconstruct the path of each published frame through the processes, in pieces that add up to `total`.

Clocks of other hosts are converted to that of the hub's host.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from edged.messages import JobTimes, TraceSpan
from edged.tracing.recording import RecordedProcess


@dataclass(frozen=True, slots=True)
class DeviceClock:
    """The offset from a device's clock to that of its host; it is at most `error_ns` too large."""

    offset_ns: int
    error_ns: int


def device_clock(jobs: list[JobTimes]) -> DeviceClock | None:
    """Estimate the offset of a device's clock from the jobs' times; None if no device has a clock.

    A result cannot arrive before the device has finished, nor can the device begin before it has the job. So each
    job bounds the offset on both sides, the fastest jobs most tightly.
    """
    bounds = [
        (job.begun_ns - job.device.upload[0], job.done_ns - job.device.download[1]) for job in jobs if job.device
    ]
    if not bounds:
        return None
    least, most = max(low for low, _ in bounds), min(high for _, high in bounds)
    return DeviceClock(most, abs(most - least))


@dataclass(frozen=True, slots=True)
class Stages:
    """Begin and end of each stage of a job, by the hub's clock. `kernels`: empty unless timed."""

    job: JobTimes
    begun_ns: int
    submitted_ns: int
    done_ns: int
    taken_ns: int
    answered_ns: int
    upload: tuple[int, int]
    forward: tuple[int, int]
    download: tuple[int, int]
    kernels: tuple[tuple[int, int], ...]


def stages_of(process: RecordedProcess) -> list[Stages]:
    """Convert the jobs of a worker to the hub's clock.

    Without a device clock a job is assumed to end when its result arrives.
    """
    clock, to_hub = device_clock(process.jobs), process.offset_ns

    def on_device(span: tuple[int, int]) -> tuple[int, int]:
        offset = to_hub + (clock.offset_ns if clock else 0)
        return span[0] + offset, span[1] + offset

    found = []
    for job in process.jobs:
        done_ns = job.done_ns + to_hub
        start_ns = done_ns - round(job.forward_s * 1e9)
        device, at_end = job.device, (done_ns, done_ns)
        found.append(
            Stages(
                job,
                job.begun_ns + to_hub,
                job.submitted_ns + to_hub,
                done_ns,
                job.taken_ns + to_hub,
                job.answered_ns + to_hub,
                on_device(device.upload) if device else (start_ns, start_ns),
                on_device(device.forward) if device else (start_ns, done_ns),
                on_device(device.download) if device else at_end,
                tuple(map(on_device, device.kernels)) if device else (),
            )
        )
    return found


Frame = tuple[str, int]  # camera, frame number


@dataclass(frozen=True, slots=True)
class Piece:
    """A stage of a frame, or the wait before one."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class FrameWay:
    """A frame from capture to publication. `jobs`: one, or one for each part of a split network."""

    frame: Frame
    seq: int
    capture: Piece
    pieces: tuple[Piece, ...]
    jobs: tuple[Stages, ...]


@dataclass(frozen=True, slots=True)
class FrameStop:
    """A stage that takes `ns` and starts at `at_ns` at the earliest; `why`: name of the wait before it."""

    name: str
    ns: int
    at_ns: int
    why: str


def ways(
    hub: Sequence[TraceSpan],
    arrived: Mapping[Frame, int],
    prepared: Mapping[Frame, int],
    jobs: Mapping[int, Stages],
) -> Iterator[FrameWay]:
    """Yield the path of each published frame whose steps were all recorded.

    `arrived`: when the hub received a frame; `prepared`: when its camera began to prepare it. All times are by the
    hub's clock.
    """
    assigned: dict[Frame, list[tuple[TraceSpan, Stages]]] = {}
    for note in hub:
        if note.name == "assign" and (stages := jobs.get(note.job or 0)):  # a lost job has no times
            for frame in note.frames:
                assigned.setdefault(frame, []).append((note, stages))
        elif note.name == "publish":
            frame = note.frames[0]
            if (steps := assigned.pop(frame, None)) and frame in arrived:
                yield _way(note, arrived[frame], prepared.get(frame), steps)


def _way(
    publish: TraceSpan, arrived_ns: int, prepared_ns: int | None, steps: Sequence[tuple[TraceSpan, Stages]]
) -> FrameWay:
    end_ns, about = publish.end_ns or publish.begin_ns, publish.attributes
    captured_ns = end_ns - _ns(about["total"])
    stops = [
        FrameStop("preprocess", _ns(about["preprocess"]), prepared_ns or captured_ns, "for the camera"),
        FrameStop("", 0, arrived_ns, "on its way to the hub"),
    ]
    for number, (assigned, stages) in enumerate(steps):
        why = "between two parts" if number else "in the hub's slot"
        stops += [FrameStop("", 0, assigned.end_ns or assigned.begin_ns, why), *_of_job(stages)]
    stops.append(FrameStop("publish", _ns(about["publish"]), publish.begin_ns, "for the answer"))
    capture = Piece("capture", captured_ns - _ns(about["capture"]), captured_ns)
    pieces = tuple(laid_out(stops, captured_ns, end_ns))
    return FrameWay(publish.frames[0], int(about["seq"]), capture, pieces, tuple(stages for _, stages in steps))


def _of_job(stages: Stages) -> Iterator[FrameStop]:
    job = stages.job
    upload_ns, forward_ns, download_ns = _ns(job.upload_s), _ns(job.forward_s), _ns(job.download_s)
    yield FrameStop("upload", upload_ns, stages.upload[1] - upload_ns, "on its way to the worker")
    yield FrameStop("forward", forward_ns, stages.forward[0], "for the device")
    yield FrameStop("download", download_ns, stages.download[1] - download_ns, "for the download")


def laid_out(stops: Iterable[FrameStop], begin_ns: int, end_ns: int) -> Iterator[Piece]:
    """Yield the stages and the waits before them: without gaps, from `begin_ns` to `end_ns`.

    Across clocks, the length of a stage is more exact than its start: a stage is moved, never shortened.
    """
    stops = list(stops)
    left_ns, at_ns = sum(stop.ns for stop in stops), begin_ns
    for stop in stops:
        start_ns = max(at_ns, min(stop.at_ns, end_ns - left_ns))
        if start_ns > at_ns:
            yield Piece(f"wait {stop.why}", at_ns, start_ns)
        if stop.ns:
            yield Piece(stop.name, start_ns, start_ns + stop.ns)
        at_ns, left_ns = start_ns + stop.ns, left_ns - stop.ns


def _ns(seconds: float | str) -> int:
    return round(float(seconds) * 1e9)
