"""Convert a recording to one timeline of cameras, hub, workers and devices.

The file has Chromium's Trace Event Format, which Perfetto and chrome://tracing read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from edged.messages import KernelCost
from edged.tracing.frames import Frame, FrameWay, Stages, device_clock, stages_of, ways
from edged.tracing.recording import RecordedProcess, RecordingRequest

Event = dict[str, Any]

LOOP, WAITS, UPLOAD, FORWARD, DOWNLOAD = 1, 2, 3, 4, 5  # threads
OF_WORKER = {
    LOOP: "loop",
    WAITS: "waits for the device",
    UPLOAD: "device: upload",
    FORWARD: "device: forward pass",
    DOWNLOAD: "device: download",
}

HUB = "hub"


@dataclass(frozen=True, slots=True)
class Track:
    """A thread of a process, by their numbers in the trace."""

    process: int
    thread: int


@dataclass(frozen=True, slots=True)
class Events:
    """Builds trace events, with times in microseconds since `origin_ns`."""

    origin_ns: int

    def span(self, track: Track, name: str, begin_ns: int, end_ns: int, **about: Any) -> Event:
        """Build a slice of a thread's time; slices of one thread nest or do not overlap."""
        times = {"ts": self._us(begin_ns), "dur": round((end_ns - begin_ns) / 1000, 3)}
        return {"ph": "X", "name": name, "cat": "work", **_place(track), **times, "args": about}

    def moment(self, track: Track, name: str, at_ns: int, **about: Any) -> Event:
        """Build an event without length."""
        what = {"ph": "i", "s": "t", "name": name, "cat": "moment"}
        return {**what, **_place(track), "ts": self._us(at_ns), "args": about}

    def stretch(
        self, track: Track, which: str, name: str, begin_ns: int, end_ns: int, **about: Any
    ) -> tuple[Event, Event]:
        """Build the begin and the end of an asynchronous slice, which belongs to no thread.

        Slices with the same `which` nest.
        """
        common = {"name": name, "cat": "frame", "id2": {"local": which}, **_place(track)}  # unique in this process
        return (
            {"ph": "b", **common, "ts": self._us(begin_ns), "args": about},
            {"ph": "e", **common, "ts": self._us(end_ns)},
        )

    def arrows(self, number: int, name: str, spans: list[Event]) -> Iterator[Event]:
        """Yield a flow that connects the spans in the order of their time."""
        for index, span in enumerate(spans):
            ends = {"ph": "f", "bp": "e"} if index == len(spans) - 1 else {"ph": "t" if index else "s"}
            place = {key: span[key] for key in ("pid", "tid", "ts")}
            yield {**ends, "name": name, "cat": "flow", "id": number, **place}

    def _us(self, at_ns: int) -> float:
        return round((at_ns - self.origin_ns) / 1000, 3)


def process_names(number: int, name: str, threads: Mapping[int, str]) -> Iterator[Event]:
    """Yield the names of a process and its threads, and their order."""
    for what, value in (("process_name", {"name": name}), ("process_sort_index", {"sort_index": number})):
        yield {"ph": "M", "name": what, "pid": number, "tid": 0, "args": value}
    for thread, called in threads.items():
        place = {"ph": "M", "pid": number, "tid": thread}
        yield {**place, "name": "thread_name", "args": {"name": called}}
        yield {**place, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _place(track: Track) -> Event:
    return {"pid": track.process, "tid": track.thread}


Spans = dict[tuple[str, Frame | int], Event]  # by name, and by frame or job


def notes(events: Events, track: Track, process: RecordedProcess, spans: Spans) -> Iterator[Event]:
    """Yield the spans and moments that a camera or the hub has recorded."""
    published_ns = 0
    for note in process.notes:
        begin_ns = note.begin_ns + process.offset_ns
        about: dict[str, Any] = {"frames": [f"{camera} {number}" for camera, number in note.frames]}
        about |= {"job": note.job} if note.job is not None else {}
        about |= note.attributes
        if note.end_ns is None:
            yield events.moment(track, f"{note.name}: {note.attributes.get('reason', '')}", begin_ns, **about)
            continue
        end_ns = note.end_ns + process.offset_ns
        if note.name == "publish":  # frames of one job are published one after another
            begin_ns, published_ns = max(begin_ns, min(published_ns, end_ns)), end_ns
        span = events.span(track, note.name, begin_ns, end_ns, **about)
        for frame in note.frames:
            spans[note.name, frame] = span
        yield span


def jobs_of(
    events: Events, process: int, jobs: Sequence[Stages], costs: Iterable[KernelCost], spans: Spans
) -> Iterator[Event]:
    """Yield what a worker and its device did for each job; `costs`: of its kernels."""
    before_ns = 0
    for stages in jobs:
        job = stages.job.job
        about = {"job": job, "frames": stages.job.frames}

        def span(thread: int, name: str, begin_ns: int, end_ns: int, about: Event = about) -> Event:
            return events.span(Track(process, thread), name, begin_ns, end_ns, **about)

        spans["submit", job] = span(LOOP, "submit", stages.begun_ns, stages.submitted_ns)
        spans["forward", job] = span(FORWARD, "forward", *stages.forward)
        yield from (spans["submit", job], spans["forward", job])
        yield span(LOOP, "answer", stages.taken_ns, stages.answered_ns)
        yield span(WAITS, "wait", max(stages.submitted_ns, before_ns), stages.done_ns)
        before_ns = stages.done_ns
        if stages.job.device:
            yield span(UPLOAD, "upload", *stages.upload)
            yield span(DOWNLOAD, "download", *stages.download)
        for cost, kernel in zip(costs, stages.kernels, strict=False):
            yield span(FORWARD, cost.operator, *kernel, about={**about, "kernel": cost.kernel})


def trace_file(recording: RecordingRequest) -> dict[str, Any]:
    """Build a trace in the Chrome JSON format, with a process for each peer, its spans, and the ways of frames."""
    numbers = {peer: number for number, peer in enumerate(sorted(recording.processes, key=_order), 1)}
    jobs = _jobs(recording)
    found = list(_ways(recording, jobs))
    events, file = Events(_origin(recording, jobs, found)), _File()
    for peer, number in numbers.items():
        process = recording.processes[peer]
        threads = OF_WORKER if peer.startswith("worker/") else {LOOP: "loop" if peer == HUB else "camera"}
        file.add(process_names(number, _name(peer, process), threads))
        file.add(notes(events, Track(number, LOOP), process, file.spans))
        costs = process.recorder.costs if process.recorder else ()
        file.add(jobs_of(events, number, jobs[peer], costs, file.spans))
    for index, way in enumerate(found):
        file.add(_way(events, Track(numbers[HUB], LOOP), way))
        file.add(events.arrows(index, "/".join(map(str, way.frame)), file.steps(way)))
    facts = {"node": recording.started.node, "frames": len(found), **_clocks(recording)}
    return {"traceEvents": file.events, "displayTimeUnit": "ms", "otherData": facts}


def frame_ways(recording: RecordingRequest) -> list[FrameWay]:
    """Return the way of each frame of a recording, by the hub's clock."""
    return list(_ways(recording, _jobs(recording)))


def _jobs(recording: RecordingRequest) -> dict[str, list[Stages]]:
    return {peer: stages_of(process) for peer, process in recording.processes.items()}


class _File:
    """Collects events, and the spans that flows connect."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.spans: Spans = {}

    def add(self, events: Iterable[Event]) -> None:
        self.events += events

    def steps(self, way: FrameWay) -> list[Event]:
        of_frame: list[tuple[str, Frame | int]] = [("preprocess", way.frame), ("frame", way.frame)]
        of_jobs = [(name, stages.job.job) for stages in way.jobs for name in ("submit", "forward")]
        keys = [*of_frame, *of_jobs, ("publish", way.frame)]
        return sorted((self.spans[key] for key in keys if key in self.spans), key=lambda event: float(event["ts"]))


def _order(peer: str) -> tuple[int, str]:
    """Sort cameras first, then the hub, then workers: the way of the frames."""
    return ("camera", "hub", "worker").index(peer.partition("/")[0]), peer


def _name(peer: str, process: RecordedProcess) -> str:
    who = f", process {process.recorder.pid} of {process.recorder.host}" if process.recorder else ""
    device = f" on {process.hello.device}" if process.hello else ""
    return f"{peer.replace('/', ' ')}{device}{who}"


def _origin(recording: RecordingRequest, jobs: dict[str, list[Stages]], found: list[FrameWay]) -> int:
    """Return a time before all events: negative times confuse viewers."""
    notes = [
        note.begin_ns + process.offset_ns for process in recording.processes.values() for note in process.notes
    ]
    begun = [min(each.begun_ns, each.upload[0]) for each in chain.from_iterable(jobs.values())]
    return min([*notes, *begun, *(way.capture.begin_ns for way in found)], default=0)


def _ways(recording: RecordingRequest, jobs: dict[str, list[Stages]]) -> Iterator[FrameWay]:
    hub = recording.processes.get(HUB, RecordedProcess()).notes
    arrived = {note.frames[0]: note.begin_ns for note in hub if note.name == "frame"}
    prepared = {
        note.frames[0]: note.begin_ns + process.offset_ns
        for peer, process in recording.processes.items()
        for note in process.notes
        if peer.startswith("camera/") and note.name == "preprocess"
    }
    return ways(hub, arrived, prepared, {each.job.job: each for each in chain.from_iterable(jobs.values())})


def _way(events: Events, track: Track, way: FrameWay) -> Iterator[Event]:
    camera, number = way.frame
    which = f"{camera}/{number}"
    begin, end = events.stretch(
        track, which, camera, way.capture.begin_ns, way.pieces[-1].end_ns, frame=number, seq=way.seq
    )
    yield begin
    for piece in (way.capture, *way.pieces):
        yield from events.stretch(track, which, piece.name, piece.begin_ns, piece.end_ns)
    yield end


def _clocks(recording: RecordingRequest) -> Event:
    """Return the error bound of each clock."""
    facts: Event = {"clock": "CLOCK_MONOTONIC of the hub's host"}
    for peer, process in recording.processes.items():
        if process.error_ns:
            facts[f"{peer}: off by at most"] = f"{process.error_ns / 1e6:.3f} ms"
        if clock := device_clock(process.jobs):
            facts[f"{peer}, its device: early by at most"] = f"{clock.error_ns / 1e6:.3f} ms"
    return facts
