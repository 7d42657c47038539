"""Messages of a recording: `edged profile --attach` and `edged trace`.

The hub ends a recording when its limit is reached, or when it cannot reach the client. A camera or worker records
until the time of the last `RecordRequest` is over; the hub renews it each second.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from edged.messages.message import Content, Count, Greeting, Message, Positive, Seconds

LONGEST_PROFILE_S = 3600.0
LONGEST_TRACE_S = 60.0

Layers = Literal["none", "half", "all"]
Span = tuple[Count, Count]  # begin, end: nanoseconds


class ProfileRequest(Greeting, frozen=True, kw_only=True):
    """Client to hub: time each kernel of a worker."""

    worker: Annotated[str | None, Meta(description="Name of the worker; null: one that serves")] = None
    frames: Annotated[Positive, Meta(description="Number of frames to time")]
    seconds: Annotated[float, Meta(gt=0, le=LONGEST_PROFILE_S, description="Time limit")]


class TraceRequest(Greeting, frozen=True):
    """Client to hub: record what every process does."""

    seconds: Annotated[float, Meta(gt=0, le=LONGEST_TRACE_S, description="Duration")]
    layers: Annotated[bool, Meta(description="Time each kernel too")] = False


class RecordingStarted(Message, frozen=True):
    """Hub to client: the recording has started, or was refused."""

    refused: Annotated[str, Meta(description="Why it was refused; empty if it was not")] = ""
    node: Annotated[str, Meta(description="Name of the node")] = ""
    worker: Annotated[str | None, Meta(description="Worker that is profiled; null for a trace")] = None


class RecordingEnded(Message, frozen=True):
    """Hub to client: the last message of a recording."""

    reason: Annotated[
        Literal["frames", "time", "lost"],
        Meta(description="frames: all were timed; time: the limit is reached; lost: the worker was lost"),
    ]
    missed: Annotated[Count, Meta(description="Messages that were dropped because the client read too slowly")] = 0


class Forwarded(Message, frozen=True):
    """Hub to client: the payload is a link message of the camera, worker or hub named `peer`."""

    peer: Annotated[str, Meta(description="camera/NAME, worker/NAME or hub")]


class RecordRequest(Message, frozen=True):
    """Hub to camera or worker, each second: record what you do."""

    recording: Annotated[Count, Meta(description="Number that distinguishes this recording from others")]
    for_s: Annotated[Seconds, Meta(description="Record for this long; 0: stop")]
    layers: Annotated[
        Layers,
        Meta(description="Jobs whose kernels a worker times; half: alternating blocks, to show what timing costs"),
    ] = "none"


class KernelCost(Content, frozen=True):
    """A kernel launch of the worker's plan, with its work for a full batch."""

    operator: Annotated[str, Meta(description="Name of the operator in the graph")]
    kernel: Annotated[str, Meta(description="Name of the kernel")]
    macs: Annotated[Count, Meta(description="Multiply-adds")]
    nbytes: Annotated[Count, Meta(description="Bytes read and written")]
    weight_bytes: Annotated[Count, Meta(description="Bytes of weights among them")]


class RecorderHello(Message, frozen=True):
    """Camera or worker to hub: the answer to the first `RecordRequest` of a recording."""

    pid: Annotated[Count, Meta(description="Process ID")]
    host: Annotated[str, Meta(description="Host name")]
    costs: Annotated[tuple[KernelCost, ...], Meta(description="Kernel launches of a worker, in order")] = ()
    peaks: Annotated[
        tuple[float, float] | None,
        Meta(description="Measured peak of the device: operations and bytes a second; null: not measured"),
    ] = None


class TraceSpan(Content, frozen=True):
    """What a process did between two moments, or at one moment."""

    name: Annotated[str, Meta(description="What was done, such as publish")]
    begin_ns: Annotated[Count, Meta(description="By the clock of the process")]
    end_ns: Annotated[Count | None, Meta(description="null: it happened at `begin_ns`")] = None
    frames: Annotated[tuple[tuple[str, int], ...], Meta(description="Frames concerned: camera and number")] = ()
    job: Annotated[int | None, Meta(description="Job concerned")] = None
    attributes: Annotated[dict[str, float | str], Meta(description="Further figures by name")] = field(
        default_factory=dict
    )


class DeviceTimes(Content, frozen=True):
    """When a device worked on a job, by the device's clock, in nanoseconds."""

    upload: Annotated[Span, Meta(description="Begin and end of the upload")]
    forward: Annotated[Span, Meta(description="Begin of the first kernel, end of the last")]
    download: Annotated[Span, Meta(description="Begin and end of the download")]
    kernels: Annotated[tuple[Span, ...], Meta(description="Of each launch, in order; empty if not requested")] = ()


class JobTimes(Content, frozen=True):
    """A job of a worker, by the clock of its host."""

    job: Annotated[Count, Meta(description="Number of the job")]
    frames: Annotated[Positive, Meta(description="Frames in the job")]
    begun_ns: Annotated[Count, Meta(description="The worker received the job")]
    submitted_ns: Annotated[Count, Meta(description="All commands were submitted to the device")]
    done_ns: Annotated[Count, Meta(description="The device completed the job")]
    taken_ns: Annotated[Count, Meta(description="The worker read the result")]
    answered_ns: Annotated[Count, Meta(description="The answer was sent")]
    upload_s: Annotated[Seconds, Meta(description="Duration of the upload")]
    forward_s: Annotated[Seconds, Meta(description="Device time of the forward pass")]
    download_s: Annotated[Seconds, Meta(description="Duration of the download")]
    device: Annotated[DeviceTimes | None, Meta(description="null: the device has no clock of its own")] = None
    reading_s: Annotated[Seconds, Meta(description="Time to read the kernels' clocks, after the answer")] = 0.0


class TraceBatch(Message, frozen=True):
    """Camera, worker or hub to client: what was recorded since the message before, by the sender's clock."""

    spans: Annotated[tuple[TraceSpan, ...], Meta(description="Spans, in order")] = ()
    jobs: Annotated[tuple[JobTimes, ...], Meta(description="Jobs of a worker")] = ()
    offset_ns: Annotated[int, Meta(description="Add this to convert times to the hub's clock")] = 0
    error_ns: Annotated[Count, Meta(description="Largest error of `offset_ns`")] = 0
    last: Annotated[bool, Meta(description="No batch follows")] = False
