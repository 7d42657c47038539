"""A recording as one time line: cameras, the hub, workers and devices, with each frame's way through them."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from edged.cli.told import Process, Told
from edged.cli.trace_clocks import Stages, device_clock, stages_of
from edged.cli.trace_events import Event, Events, Track, process_names
from edged.cli.trace_frames import Frame, Way, ways
from edged.cli.trace_work import LOOP, OF_WORKER, Spans, jobs_of, notes

HUB = "hub"


def trace_file(told: Told) -> dict[str, Any]:
    """The whole trace."""
    numbers = {peer: number for number, peer in enumerate(sorted(told.processes, key=_order), 1)}
    jobs = {peer: stages_of(process) for peer, process in told.processes.items()}
    found = list(_ways(told, jobs))
    events, file = Events(_origin(told, jobs, found)), _File()
    for peer, number in numbers.items():
        process = told.processes[peer]
        threads = OF_WORKER if peer.startswith("worker/") else {LOOP: "loop" if peer == HUB else "camera"}
        file.add(process_names(number, _name(peer, process), threads))
        file.add(notes(events, Track(number, LOOP), process, file.spans))
        costs = process.recorder.costs if process.recorder else ()
        file.add(jobs_of(events, number, jobs[peer], costs, file.spans))
    for index, way in enumerate(found):
        file.add(_way(events, Track(numbers[HUB], LOOP), way))
        file.add(events.arrows(index, "/".join(map(str, way.frame)), file.steps(way)))
    facts = {"node": told.begins.node, "frames": len(found), **_clocks(told)}
    return {"traceEvents": file.events, "displayTimeUnit": "ms", "otherData": facts}


class _File:
    """Events, and where those are from which arrows lead."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.spans: Spans = {}

    def add(self, events: Iterable[Event]) -> None:
        self.events += events

    def steps(self, way: Way) -> list[Event]:
        of_frame: list[tuple[str, Frame | int]] = [("preprocess", way.frame), ("frame", way.frame)]
        of_jobs = [(name, stages.job.job) for stages in way.jobs for name in ("submit", "forward")]
        keys = [*of_frame, *of_jobs, ("publish", way.frame)]
        return sorted((self.spans[key] for key in keys if key in self.spans), key=lambda event: float(event["ts"]))


def _order(peer: str) -> tuple[int, str]:
    """Frames go down from cameras to workers."""
    return ("camera", "hub", "worker").index(peer.partition("/")[0]), peer


def _name(peer: str, process: Process) -> str:
    who = f", process {process.recorder.pid} of {process.recorder.host}" if process.recorder else ""
    device = f" on {process.hello.device}" if process.hello else ""
    return f"{peer.replace('/', ' ')}{device}{who}"


def _origin(told: Told, jobs: dict[str, list[Stages]], found: list[Way]) -> int:
    """Before everything: times below zero confuse viewers."""
    notes = [note.begin_ns + process.offset_ns for process in told.processes.values() for note in process.notes]
    begun = [min(each.begun_ns, each.upload[0]) for each in chain.from_iterable(jobs.values())]
    return min([*notes, *begun, *(way.capture.begin_ns for way in found)], default=0)


def _ways(told: Told, jobs: dict[str, list[Stages]]) -> Iterator[Way]:
    hub = told.processes.get(HUB, Process()).notes
    arrived = {note.frames[0]: note.begin_ns for note in hub if note.name == "frame"}
    prepared = {
        note.frames[0]: note.begin_ns + process.offset_ns
        for peer, process in told.processes.items()
        for note in process.notes
        if peer.startswith("camera/") and note.name == "preprocess"
    }
    return ways(hub, arrived, prepared, {each.job.job: each for each in chain.from_iterable(jobs.values())})


def _way(events: Events, track: Track, way: Way) -> Iterator[Event]:
    camera, number = way.frame
    which = f"{camera}/{number}"
    begin, end = events.stretch(
        track, which, camera, way.capture.begin_ns, way.pieces[-1].end_ns, frame=number, seq=way.seq
    )
    yield begin
    for piece in (way.capture, *way.pieces):
        yield from events.stretch(track, which, piece.name, piece.begin_ns, piece.end_ns)
    yield end


def _clocks(told: Told) -> Event:
    """How far each may be off."""
    facts: Event = {"clock": "CLOCK_MONOTONIC of the hub's host"}
    for peer, process in told.processes.items():
        if process.error_ns:
            facts[f"{peer}: off by at most"] = f"{process.error_ns / 1e6:.3f} ms"
        if clock := device_clock(process.jobs):
            facts[f"{peer}, its device: early by at most"] = f"{clock.error_ns / 1e6:.3f} ms"
    return facts
