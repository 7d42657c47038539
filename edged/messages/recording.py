"""Messages of a recording: `edged profile --attach` and `edged trace`.

The hub ends a recording when its limit is reached, or when it cannot reach the client. A camera or worker records
until the time of the last `RecordRequest` is over; the hub renews it each second.
"""

from typing import Annotated, Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, Message, Positive, Seconds

LONGEST_PROFILE_S = 3600.0
LONGEST_TRACE_S = 60.0

Layers = Literal["none", "half", "all"]
Span = tuple[Count, Count]  # begin, end: nanoseconds


class ProfileRequest(Greeting):
    """Client to hub: time each kernel of a worker."""

    kind: Literal["profile_request"] = "profile_request"
    worker: str | None = Field(None, description="Name of the worker; null: one that serves")
    frames: Positive = Field(description="Number of frames to time")
    seconds: Annotated[float, Field(gt=0, le=LONGEST_PROFILE_S)] = Field(description="Time limit")


class TraceRequest(Greeting):
    """Client to hub: record what every process does."""

    kind: Literal["trace_request"] = "trace_request"
    seconds: Annotated[float, Field(gt=0, le=LONGEST_TRACE_S)] = Field(description="Duration")
    layers: bool = Field(False, description="Time each kernel too")


class RecordingStarted(Message):
    """Hub to client: the recording has started, or was refused."""

    kind: Literal["recording_started"] = "recording_started"
    refused: str = Field("", description="Why it was refused; empty if it was not")
    node: str = Field("", description="Name of the node")
    worker: str | None = Field(None, description="Worker that is profiled; null for a trace")


class RecordingEnded(Message):
    """Hub to client: the last message of a recording."""

    kind: Literal["recording_ended"] = "recording_ended"
    reason: Literal["frames", "time", "lost"] = Field(
        description="frames: all were timed; time: the limit is reached; lost: the worker was lost"
    )
    missed: Count = Field(0, description="Messages that were dropped because the client read too slowly")


class Forwarded(Message):
    """Hub to client: the payload is a link message of the camera, worker or hub named `peer`."""

    kind: Literal["forwarded"] = "forwarded"
    peer: str = Field(description="camera/NAME, worker/NAME or hub")


class RecordRequest(Message):
    """Hub to camera or worker, each second: record what you do."""

    kind: Literal["record_request"] = "record_request"
    recording: Count = Field(description="Number that distinguishes this recording from others")
    for_s: Seconds = Field(description="Record for this long; 0: stop")
    layers: Layers = Field(
        "none",
        description="Jobs whose kernels a worker times; half: alternating blocks, to measure the cost of timing",
    )


class KernelCost(Message):
    """A kernel launch of the worker's plan, with its work for a full batch."""

    operator: str = Field(description="Name of the operator in the graph")
    kernel: str = Field(description="Name of the kernel")
    macs: Count = Field(description="Multiply-adds")
    nbytes: Count = Field(description="Bytes read and written")
    weight_bytes: Count = Field(description="Bytes of weights among them")


class RecorderHello(Message):
    """Camera or worker to hub: the answer to the first `RecordRequest` of a recording."""

    kind: Literal["recorder_hello"] = "recorder_hello"
    pid: Count = Field(description="Process ID")
    host: str = Field(description="Host name")
    costs: tuple[KernelCost, ...] = Field((), description="Kernel launches of a worker, in order")
    peaks: tuple[float, float] | None = Field(
        None, description="Measured peak of the device: operations and bytes a second; null: not measured"
    )


class TraceSpan(Message):
    """What a process did between two moments, or at one moment."""

    name: str = Field(description="What was done, such as publish")
    begin_ns: Count = Field(description="By the clock of the process")
    end_ns: Count | None = Field(None, description="null: it happened at `begin_ns`")
    frames: tuple[tuple[str, int], ...] = Field((), description="Frames concerned: camera and number")
    job: int | None = Field(None, description="Job concerned")
    attributes: dict[str, float | str] = Field(default_factory=dict, description="Further figures by name")


class DeviceTimes(Message):
    """When a device worked on a job, by the device's clock, in nanoseconds."""

    upload: Span = Field(description="Begin and end of the upload")
    forward: Span = Field(description="Begin of the first kernel, end of the last")
    download: Span = Field(description="Begin and end of the download")
    kernels: tuple[Span, ...] = Field((), description="Of each launch, in order; empty if not requested")


class JobTimes(Message):
    """A job of a worker, by the clock of its host."""

    job: Count = Field(description="Number of the job")
    frames: Positive = Field(description="Frames in the job")
    begun_ns: Count = Field(description="The worker received the job")
    submitted_ns: Count = Field(description="All commands were submitted to the device")
    done_ns: Count = Field(description="The device completed the job")
    taken_ns: Count = Field(description="The worker read the result")
    answered_ns: Count = Field(description="The answer was sent")
    upload_s: Seconds = Field(description="Duration of the upload")
    forward_s: Seconds = Field(description="Device time of the forward pass")
    download_s: Seconds = Field(description="Duration of the download")
    device: DeviceTimes | None = Field(None, description="null: the device has no clock of its own")
    reading_s: Seconds = Field(0.0, description="Time to read the kernels' clocks, after the answer")


class TraceBatch(Message):
    """Camera, worker or hub to client: what was recorded since the message before, by the sender's clock."""

    kind: Literal["trace_batch"] = "trace_batch"
    spans: tuple[TraceSpan, ...] = Field((), description="Spans, in order")
    jobs: tuple[JobTimes, ...] = Field((), description="Jobs of a worker")
    offset_ns: int = Field(0, description="Add this to convert times to the hub's clock")
    error_ns: Count = Field(0, description="Largest error of `offset_ns`")
    last: bool = Field(False, description="No batch follows")
