"""Messages between a worker and the hub, or `edged plan-split`, which takes its place."""

from typing import Annotated, Literal

from msgspec import Meta, field

from edged.messages.detection import FoundBox, InFrame, Task
from edged.messages.message import Content, Count, EnergyMethod, Greeting, Message, Positive, Seconds
from edged.messages.preparation import PreparedBy, Resize
from edged.messages.scores import ScoreKind

MOST = 32  # sensors, and domains, of one machine: each is a series in Prometheus

SensorName = Annotated[str, Meta(min_length=1, max_length=64)]


class ModelInfo(Content, frozen=True):
    """The model that a worker runs."""

    name: Annotated[str, Meta(description="Name of the model")]
    sha256: Annotated[str, Meta(description="SHA-256 of its file")]
    labels: Annotated[tuple[str, ...], Meta(description="Labels by class index")]
    width: Annotated[Positive, Meta(description="Input width, in pixels")]
    height: Annotated[Positive, Meta(description="Input height, in pixels")]
    random_weights: Annotated[bool, Meta(description="For timing only: the weights are random")] = False
    resize: Annotated[Resize, Meta(description="How pictures take the input size")] = "stretch"
    preparation: Annotated[str, Meta(description="How pictures become the input, in words")] = ""
    prepared_by: Annotated[PreparedBy, Meta(description="Where the preparation is defined")] = "file"
    scores: Annotated[ScoreKind, Meta(description="What the network's outputs are")] = "probabilities"
    scoring: Annotated[str, Meta(description="How scores or boxes follow from the outputs, in words")] = ""
    task: Annotated[Task, Meta(description="What it is for: `detect`, its answers are boxes, too")] = "classify"


class Part(Content, frozen=True):
    """The segment of a network that a worker runs."""

    begin: Annotated[str | None, Meta(description="Operator after which it begins; null: from the images")] = None
    end: Annotated[str | None, Meta(description="Last operator; null: to the scores")] = None
    values_in: Annotated[Count, Meta(description="Values of a frame that it receives at `begin`; 0: images")] = 0
    values_out: Annotated[Count, Meta(description="Values of a frame that it sends at `end`; 0: scores")] = 0

    def __str__(self) -> str:
        return f"from {self.begin or 'the images'} to {self.end or 'the scores'}"


class WorkerHello(Greeting, frozen=True, kw_only=True):
    """Worker to hub: the first message to each hub process that it meets, once its device is warm."""

    worker: Annotated[str, Meta(description="Name, such as local-0")]
    device: Annotated[str, Meta(description="Name of the device, as its driver gives it")]
    host: Annotated[str, Meta(description="Host in the config; empty: the hub's host")] = ""
    precision: Annotated[str, Meta(description="fp32, fp16-weights, fp16 or bf16")]
    batch: Annotated[Positive, Meta(description="Largest number of frames in a job")]
    credit: Annotated[Positive, Meta(description="Largest number of jobs in flight")]
    forward_s: Annotated[
        Seconds, Meta(description="Time of a full batch from submission to answer; 0: not measured")
    ] = 0.0
    max_wait_s: Annotated[Seconds, Meta(description="Longest time that a frame waits for others of its job")] = 0.0
    model: Annotated[ModelInfo, Meta(description="Model that it runs")]
    part: Annotated[Part | None, Meta(description="Segment that it runs; null: the whole network")] = None
    excluded_variants: Annotated[
        tuple[str, ...],
        Meta(description="Kernel variants that disagree with the reference on this device, and are not used"),
    ] = ()
    features: Annotated[
        Count, Meta(description="Features of a frame for taught heads; 0: it cannot run heads")
    ] = 0
    energy: Annotated[EnergyMethod, Meta(description="How energy is measured")]
    energy_note: Annotated[str, Meta(description="Explanation of `energy`, for people")] = ""
    attributed_rails: Annotated[
        tuple[str, ...], Meta(description="Rails whose joules are attributed to its jobs")
    ] = ()
    idle_watts: Annotated[
        dict[str, Seconds],
        Meta(description="Measured idle power by rail, which is subtracted from the joules of jobs"),
    ] = field(default_factory=dict)


class HelloRequest(Message, frozen=True):
    """Hub to worker: send `WorkerHello` again. The hub had given up the worker, and hears from it again."""


class Job(Message, frozen=True):
    """Hub to worker: classify these frames.

    Payloads: one for each frame (uint8 RGB, height × width × 3). A segment behind a cut gets one payload with the
    features of all frames, as the segment before sent them.
    """

    job: Annotated[Count, Meta(description="Number of the job")]
    frames: Annotated[Positive, Meta(description="Number of frames")]
    top: Annotated[
        Positive, Meta(description="Number of classes in each answer; of independent scores all that are there")
    ]
    timeout_s: Annotated[Seconds, Meta(description="Time limit, from the answer to the job before")]
    head: Annotated[str, Meta(description="Version that answers, loaded before; empty: the model itself")] = ""
    shadow: Annotated[str, Meta(description="Version that answers too, loaded before; empty: none")] = ""
    features: Annotated[bool, Meta(description="Return the features (input of the last Dense) too")] = False
    places: Annotated[
        tuple[InFrame | None, ...],
        Meta(description="For a detector: where the picture in each frame lies; null, or none: it fills it"),
    ] = ()


class Score(Content, frozen=True):
    """The score of one class for one frame."""

    index: Annotated[Count, Meta(description="Class index")]
    score: Annotated[float, Meta(description="Probability of the class")]


class JobDone(Message, frozen=True, kw_only=True):
    """Timings and energy of a completed job."""

    job: Annotated[Count, Meta(description="Number of the job")]
    upload_s: Annotated[Seconds, Meta(description="Duration of the upload")]
    forward_s: Annotated[Seconds, Meta(description="Device time of the forward pass")]
    download_s: Annotated[Seconds, Meta(description="Duration of the download")]
    joules: Annotated[Seconds | None, Meta(description="Energy of the whole job; null: not measured")] = None
    idle: Annotated[
        Seconds, Meta(description="Joules that were subtracted, since they are spent without a job too")
    ] = 0.0
    rails: Annotated[
        dict[str, Seconds], Meta(description="Joules by rail since the last report; each joule is reported once")
    ] = field(default_factory=dict)


class Scores(JobDone, frozen=True, kw_only=True):
    """Worker to hub: the answer to a job.

    Payload if the job requests features: float32 [frames, features], little-endian, C order.
    """

    frames: Annotated[tuple[tuple[Score, ...], ...], Meta(description="Top classes of each frame, best first")]
    shadow: Annotated[tuple[tuple[Score, ...], ...], Meta(description="The same by the version in shadow")] = ()
    boxes: Annotated[
        tuple[tuple[FoundBox, ...], ...], Meta(description="Boxes of each frame, best first, by a detector")
    ] = ()
    faint: Annotated[
        tuple[tuple[FoundBox, ...], ...],
        Meta(description="Boxes of each frame below their thresholds, for a tracker; none: there is none"),
    ] = ()
    decode_s: Annotated[Seconds, Meta(description="Time for the boxes on the host, part of `forward_s`")] = 0.0


class Features(JobDone, frozen=True, kw_only=True):
    """Worker to hub: the answer of a segment that ends at a cut.

    Payload: float32 [frames, *shape of the tensor], little-endian, C order.
    """


class IdleEnergy(Message, frozen=True):
    """Worker to hub: energy spent while there was no job."""

    rails: Annotated[dict[str, Seconds], Meta(description="Joules by rail since the last report")]


class OneLaunches(Message, frozen=True):
    """Worker to hub: jobs since the last report whose kernels were one launch."""

    jobs: Annotated[Count, Meta(description="Jobs whose kernels were one launch")]
    waits_given_up: Annotated[Count, Meta(description="Waits of a work-group for another that were given up")]


class JobFailed(Message, frozen=True):
    """Worker to hub: the job failed; there is no answer."""

    job: Annotated[Count, Meta(description="Number of the job")]
    reason: Annotated[
        Literal["device_error", "not_finite"], Meta(description="not_finite: the output holds NaN or infinity")
    ]
    error: Annotated[str, Meta(description="Explanation for people")]


class Frequency(Content, frozen=True):
    """Clock frequency of a CPU policy or a GPU, in hertz."""

    now: Annotated[Count, Meta(description="Current frequency")]
    limit: Annotated[Positive, Meta(description="Highest frequency that is allowed now")]
    maximum: Annotated[Positive, Meta(description="Highest frequency of the hardware")]


class HostState(Message, frozen=True):
    """Worker to hub, every few seconds: temperatures and frequencies of its machine."""

    celsius: Annotated[dict[SensorName, float], Meta(max_length=MOST, description="Temperature by sensor, in °C")]
    frequencies: Annotated[dict[SensorName, Frequency], Meta(max_length=MOST, description="Frequency by domain")]


class MeasureRequest(Message, frozen=True):
    """To a worker: measure how long each part of the network takes on your device."""

    frames: Annotated[Positive, Meta(description="Frames of each job")]
    for_s: Annotated[Seconds, Meta(description="Approximate duration of the measurement")]


class CutPoint(Content, frozen=True):
    """A place between two operators where a single tensor crosses, with the costs of a cut there."""

    after: Annotated[
        str | None,
        Meta(description="Operator that writes the tensor; null: the images (first), or the scores (last)"),
    ]
    nbytes: Annotated[Count, Meta(description="Size of the tensor for one job")]
    reached_s: Annotated[
        Seconds, Meta(description="Device time from the first kernel's start until the tensor is there")
    ]
    receive_s: Annotated[
        Seconds, Meta(description="Time to begin here: from the payload to the tensor on the device")
    ]
    send_s: Annotated[Seconds, Meta(description="Time to end here: from the tensor on the device to the payload")]


class MeasureAnswer(Message, frozen=True):
    """From a worker: the costs at every possible cut."""

    cut_points: Annotated[tuple[CutPoint, ...], Meta(description="In order, from the images to the scores")]
    overlaps: Annotated[
        bool,
        Meta(description="Receiving and sending overlap computing; false for a CPU, whose cores do all three"),
    ]


class Echo(Message, frozen=True):
    """To a worker, with a payload: answer with an `Echo` whose payload has `reply_bytes` bytes."""

    reply_bytes: Annotated[int, Meta(ge=0, le=1 << 28, description="Size of the answer's payload")]


class AssignPart(Message, frozen=True):
    """To a worker: run the operators behind `begin` up to `end` from now on, and send a new `WorkerHello`."""

    begin: Annotated[str | None, Meta(description="`after` of a cut point; null: from the images")] = None
    end: Annotated[str | None, Meta(description="`after` of a cut point; null: to the scores")] = None
