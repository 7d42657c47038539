"""The way of each published frame through the processes, in pieces whose sum is the prediction's `total`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from edged.cli.trace_clocks import Stages
from edged.messages import Note

Frame = tuple[str, int]  # camera, number


@dataclass(frozen=True, slots=True)
class Piece:
    """A stage of a frame, or what it waited for between two of them."""

    name: str
    begin_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Way:
    """A frame from its capture to its publication. `jobs`: one, or one for each part of a network."""

    frame: Frame
    seq: int
    capture: Piece
    pieces: tuple[Piece, ...]
    jobs: tuple[Stages, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """A stage that takes `ns`, and should begin at `at_ns`; until then the frame waits `why`."""

    name: str
    ns: int
    at_ns: int
    why: str


def ways(
    hub: Sequence[Note], arrived: Mapping[Frame, int], prepared: Mapping[Frame, int], jobs: Mapping[int, Stages]
) -> Iterator[Way]:
    """Of all frames that were published, and of which every step is known.

    `arrived`: when the hub had them, `prepared`: when their camera began to. All times are of the hub's clock.
    """
    assigned: dict[Frame, list[tuple[Note, Stages]]] = {}
    for note in hub:
        if note.name == "assign" and (stages := jobs.get(note.job or 0)):  # of one that was lost nobody tells
            for frame in note.frames:
                assigned.setdefault(frame, []).append((note, stages))
        elif note.name == "publish":
            frame = note.frames[0]
            if (steps := assigned.pop(frame, None)) and frame in arrived:
                yield _way(note, arrived[frame], prepared.get(frame), steps)


def _way(publish: Note, arrived_ns: int, prepared_ns: int | None, steps: Sequence[tuple[Note, Stages]]) -> Way:
    end_ns, about = publish.end_ns or publish.begin_ns, publish.about
    captured_ns = end_ns - _ns(about["total"])
    stops = [
        Stop("preprocess", _ns(about["preprocess"]), prepared_ns or captured_ns, "for the camera"),
        Stop("", 0, arrived_ns, "on its way to the hub"),
    ]
    for number, (assigned, stages) in enumerate(steps):
        why = "between two parts" if number else "in the hub's slot"
        stops += [Stop("", 0, assigned.end_ns or assigned.begin_ns, why), *_of_job(stages)]
    stops.append(Stop("publish", _ns(about["publish"]), publish.begin_ns, "for the answer"))
    capture = Piece("capture", captured_ns - _ns(about["capture"]), captured_ns)
    pieces = tuple(laid_out(stops, captured_ns, end_ns))
    return Way(publish.frames[0], int(about["seq"]), capture, pieces, tuple(stages for _, stages in steps))


def _of_job(stages: Stages) -> Iterator[Stop]:
    job = stages.job
    upload_ns, forward_ns, download_ns = _ns(job.upload_s), _ns(job.forward_s), _ns(job.download_s)
    yield Stop("upload", upload_ns, stages.upload[1] - upload_ns, "on its way to the worker")
    yield Stop("forward", forward_ns, stages.forward[0], "for the device")
    yield Stop("download", download_ns, stages.download[1] - download_ns, "for the download")


def laid_out(stops: Iterable[Stop], begin_ns: int, end_ns: int) -> Iterator[Piece]:
    """The stages with what was waited for before each: without gaps, from `begin_ns` to `end_ns`.

    What a stage took is known better than when it began, where clocks differ: it is moved, never shortened.
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
