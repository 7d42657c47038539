"""What the processes of a daemon recorded, by process."""

from dataclasses import dataclass, field

from edged.messages import (
    JobTimes,
    LinkMessage,
    RecorderHello,
    RecordingEnded,
    RecordingStarted,
    TraceBatch,
    TraceSpan,
    WorkerHello,
)


@dataclass(eq=False)
class RecordedProcess:
    """What one process recorded.

    Times are by its own clock. Add `offset_ns` to convert them to the hub's clock; it is exact to `error_ns`.
    """

    recorder: RecorderHello | None = None
    hello: WorkerHello | None = None
    notes: list[TraceSpan] = field(default_factory=list)
    jobs: list[JobTimes] = field(default_factory=list)
    offset_ns: int = 0
    error_ns: int | None = None

    def add(self, message: LinkMessage) -> None:
        """Add a message of the process. The most exact clock offset so far replaces the one before."""
        match message:
            case RecorderHello():
                self.recorder = message
            case WorkerHello():
                self.hello = message
            case TraceBatch():
                self.notes += message.spans
                self.jobs += message.jobs
                if self.error_ns is None or message.error_ns < self.error_ns:
                    self.offset_ns, self.error_ns = message.offset_ns, message.error_ns


@dataclass(eq=False)
class RecordingRequest:
    """What all processes of a daemon recorded. `processes`: by peer (`worker/NAME`, `camera/NAME`, `hub`)."""

    started: RecordingStarted
    processes: dict[str, RecordedProcess] = field(default_factory=dict)
    ended: RecordingEnded | None = None
