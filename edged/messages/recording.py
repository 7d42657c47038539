"""Between the hub and who records what it and its processes do: `edged profile --attach` and `edged trace`.

The hub ends a recording after what was asked for, or when it cannot reach who has asked; a process whose leave to
record is not renewed each second stops by itself.
"""

from typing import Annotated, Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, Message, Positive, Seconds

LONGEST_PROFILE_S = 3600.0
LONGEST_TRACE_S = 60.0

Layers = Literal["none", "half", "all"]
Span = tuple[Count, Count]  # from, to: nanoseconds


class ProfileRequest(Greeting):
    """To the hub: tell me what each kernel of that worker takes, for so many frames, and no longer than that."""

    kind: Literal["profile_request"] = "profile_request"
    worker: str | None = None
    frames: Positive
    seconds: Annotated[float, Field(gt=0, le=LONGEST_PROFILE_S)]


class TraceRequest(Greeting):
    """To the hub: tell me what every process does. `layers`: and what each kernel takes."""

    kind: Literal["trace_request"] = "trace_request"
    seconds: Annotated[float, Field(gt=0, le=LONGEST_TRACE_S)]
    layers: bool = False


class RecordingStarted(Message):
    """The hub's answer. `refused` says why it does not begin."""

    kind: Literal["recording_started"] = "recording_started"
    refused: str = ""
    node: str = ""
    worker: str | None = None


class RecordingEnded(Message):
    """The hub's last word to who has asked: why it ends. `missed`: messages that found no room."""

    kind: Literal["recording_ended"] = "recording_ended"
    reason: Literal["frames", "time", "lost"]
    missed: Count = 0


class Forwarded(Message):
    """Hub to who has asked: the payload is a link message of this camera, worker, or of the hub itself."""

    kind: Literal["forwarded"] = "forwarded"
    peer: str


class RecordRequest(Message):
    """Hub to camera or worker, each second: note down what you do for so long; 0: no longer.

    `recording` tells one from another. `layers`: of how many of its jobs a worker times the kernels; of `half`, in
    blocks, so that the others tell what that costs.
    """

    kind: Literal["record_request"] = "record_request"
    recording: Count
    for_s: Seconds
    layers: Layers = "none"


class KernelCost(Message):
    """A launch of the worker's plan, for a full batch: multiply-adds, bytes that it moves, those of weights."""

    operator: str
    kernel: str
    macs: Count
    nbytes: Count
    weight_bytes: Count


class RecorderHello(Message):
    """A camera's or worker's answer to the first `RecordRequest`: who it is, and which kernels it runs.

    `macs`, of one frame; `peaks`, operations and bytes a second, where they are known there.
    """

    kind: Literal["recorder_hello"] = "recorder_hello"
    pid: Count
    host: str
    costs: tuple[KernelCost, ...] = ()
    peaks: tuple[float, float] | None = None


class TraceSpan(Message):
    """What a process has done from `begin_ns` to `end_ns`; without an end: what happened at a moment.

    `frames`: of which it is, by camera and number.
    """

    name: str
    begin_ns: Count
    end_ns: Count | None = None
    frames: tuple[tuple[str, int], ...] = ()
    job: int | None = None
    attributes: dict[str, float | str] = Field(default_factory=dict)


class DeviceTimes(Message):
    """When a device was at what a job wants of it, by its own clock. `kernels`: in the order of the launches."""

    upload: Span
    forward: Span
    download: Span
    kernels: tuple[Span, ...] = ()


class JobTimes(Message):
    """A job of a worker, by its host's clock: when it came, was submitted, done, its result taken, and answered.

    `device` is None for one that has no clock of its own; its kernels are empty where they were not asked for. To
    ask the device for their times has taken `reading_s`, after the answer.
    """

    job: Count
    frames: Positive
    begun_ns: Count
    submitted_ns: Count
    done_ns: Count
    taken_ns: Count
    answered_ns: Count
    upload_s: Seconds
    forward_s: Seconds
    download_s: Seconds
    device: DeviceTimes | None = None
    reading_s: Seconds = 0.0


class TraceBatch(Message):
    """What was noted down since the message before, by the clock of its process.

    `offset_ns` leads to the hub's clock, and may be wrong by `error_ns`. `last`: nothing follows.
    """

    kind: Literal["trace_batch"] = "trace_batch"
    spans: tuple[TraceSpan, ...] = ()
    jobs: tuple[JobTimes, ...] = ()
    offset_ns: int = 0
    error_ns: Count = 0
    last: bool = False
