"""What a daemon and its processes tell while they are recorded."""

from dataclasses import dataclass, field

from edged.cli.running import BEATS_S, Running
from edged.errors import ConfigError, EdgedError
from edged.messages import (
    Heard,
    JobTimes,
    LinkMessage,
    Note,
    ProfileRequest,
    Recorded,
    Recorder,
    RecordingBegins,
    RecordingEnds,
    TraceRequest,
    WorkerHello,
    decode,
)


@dataclass(eq=False)
class Process:
    """One of them. Times are by its own clock; `offset_ns` leads to the hub's and may be wrong by `error_ns`."""

    recorder: Recorder | None = None
    hello: WorkerHello | None = None
    notes: list[Note] = field(default_factory=list)
    jobs: list[JobTimes] = field(default_factory=list)
    offset_ns: int = 0
    error_ns: int | None = None

    def take(self, message: LinkMessage) -> None:
        """What it says; of several guesses at the hub's clock, the best one holds for all of it."""
        match message:
            case Recorder():
                self.recorder = message
            case WorkerHello():
                self.hello = message
            case Recorded():
                self.notes += message.notes
                self.jobs += message.jobs
                if self.error_ns is None or message.error_ns < self.error_ns:
                    self.offset_ns, self.error_ns = message.offset_ns, message.error_ns


@dataclass(eq=False)
class Told:
    """All of it. `processes`: by peer, as the hub calls them; its own is `hub`."""

    begins: RecordingBegins
    processes: dict[str, Process] = field(default_factory=dict)
    ends: RecordingEnds | None = None


def record(daemon: Running, request: ProfileRequest | TraceRequest) -> Told:
    """Listen until the hub ends it.

    Raises EdgedError where it refuses or dies, ConfigError where there are no kernels to profile.
    """
    daemon.say(request)
    begins, _ = daemon.hear()
    if not isinstance(begins, RecordingBegins):
        raise daemon.unexpected(begins)
    if begins.refused:
        raise EdgedError(begins.refused)
    told = Told(begins)
    while told.ends is None:
        match daemon.hear(BEATS_S):
            case RecordingEnds() as ends, _:
                told.ends = ends
            case Heard(peer=peer), payload:
                message = decode(payload)
                if isinstance(request, ProfileRequest) and isinstance(message, Recorder) and not message.costs:
                    raise ConfigError(f"{peer.replace('/', ' ')} runs on NumPy: it has no kernels to profile")
                told.processes.setdefault(peer, Process()).take(message)
            case other, _:
                raise daemon.unexpected(other)
    return told
