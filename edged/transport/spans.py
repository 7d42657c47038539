"""Record spans of a camera's or the hub's work while a client records; nothing at other times."""

import msgspec

from edged.clock import nanoseconds, now_ns
from edged.messages import Features, Frame, LinkMessage, Prediction, Scores, TraceSpan

MOST = 20_000  # spans that wait to be sent; more are dropped


class Notebook:
    """The spans that a process has recorded.

    Check `is_open` before `note`: it is cheap while no client records.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._until_ns = 0
        self._recording: int | None = None
        self._notes: list[TraceSpan] = []

    def __len__(self) -> int:
        return len(self._notes)

    def open(self, recording: int, for_s: float) -> bool:
        """Record for `for_s` seconds; 0: stop. Return whether the recording is a new one."""
        is_new = recording != self._recording
        if is_new:
            self._notes.clear()
        self._recording, self._until_ns = recording, now_ns() + nanoseconds(for_s)
        self.is_open = for_s > 0
        return is_new

    def close_if_due(self) -> None:
        """Stop recording if the client has not renewed it in time."""
        if self.is_open and now_ns() >= self._until_ns:
            self.is_open = False
            self._notes.clear()

    def note(
        self,
        name: str,
        begin_ns: int,
        end_ns: int | None = None,
        *,
        frames: tuple[tuple[str, int], ...] = (),
        job: int | None = None,
        **attributes: float | str,
    ) -> None:
        """Add a span; `is_open` must be checked before."""
        if len(self._notes) < MOST:
            self._notes.append(
                TraceSpan(
                    name=name, begin_ns=begin_ns, end_ns=end_ns, frames=frames, job=job, attributes=attributes
                )
            )

    def pop_spans(self) -> tuple[TraceSpan, ...]:
        notes, self._notes = tuple(self._notes), []
        return notes


def note_message(notebook: Notebook, message: LinkMessage, begun_ns: int) -> None:
    """Record that a frame or an answer was received."""
    match message:
        case Frame(camera=camera, frame=number):
            notebook.note("frame", begun_ns, now_ns(), frames=((camera, number),))
        case Scores(job=job) | Features(job=job):
            notebook.note("answer", begun_ns, now_ns(), job=job)


def note_prediction(notebook: Notebook, sent: Prediction, answered_ns: int, made: Prediction) -> None:
    """Note a sent prediction: the hub's work on it, from its scores until it was `made`, and its stages."""
    made_ns = answered_ns + round(made.seconds.publish * 1e9)
    frames = ((sent.camera, sent.frame),)
    stages = msgspec.structs.asdict(sent.seconds)
    notebook.note("publish", answered_ns, made_ns, frames=frames, seq=sent.seq, **stages)
