"""What each thread of each process has done, as spans of a trace."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from edged.cli.told import Process
from edged.cli.trace_clocks import Stages
from edged.cli.trace_events import Event, Events, Track
from edged.cli.trace_frames import Frame
from edged.messages import KernelCost

LOOP, WAITS, UPLOAD, FORWARD, DOWNLOAD = 1, 2, 3, 4, 5  # threads
OF_WORKER = {
    LOOP: "loop",
    WAITS: "waits for the device",
    UPLOAD: "device: upload",
    FORWARD: "device: forward pass",
    DOWNLOAD: "device: download",
}
Spans = dict[tuple[str, Frame | int], Event]  # by name, and what they are of


def notes(events: Events, track: Track, process: Process, spans: Spans) -> Iterator[Event]:
    """What a camera or the hub has noted down."""
    published_ns = 0
    for note in process.notes:
        begin_ns = note.begin_ns + process.offset_ns
        about: dict[str, Any] = {"frames": [f"{camera} {number}" for camera, number in note.frames]}
        about |= {"job": note.job} if note.job is not None else {}
        about |= note.about
        if note.end_ns is None:
            yield events.moment(track, f"{note.name}: {note.about.get('reason', '')}", begin_ns, **about)
            continue
        end_ns = note.end_ns + process.offset_ns
        if note.name == "publish":  # frames of one job: each when the one before it is ready
            begin_ns, published_ns = max(begin_ns, min(published_ns, end_ns)), end_ns
        span = events.span(track, note.name, begin_ns, end_ns, **about)
        for frame in note.frames:
            spans[note.name, frame] = span
        yield span


def jobs_of(
    events: Events, process: int, jobs: Sequence[Stages], costs: Iterable[KernelCost], spans: Spans
) -> Iterator[Event]:
    """What a worker and its device have done for each job; `costs`: of its kernels."""
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
