"""Messages between a worker and the hub."""

from typing import Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, EnergyMethod, Message, Positive, Seconds
from edged.messages.preparation import PreparedBy, Resize


class ModelInfo(Message):
    """The model that a worker runs."""

    name: str = Field(description="Name of the model")
    sha256: str = Field(description="SHA-256 of its file")
    labels: tuple[str, ...] = Field(description="Labels by class index")
    width: Positive = Field(description="Input width, in pixels")
    height: Positive = Field(description="Input height, in pixels")
    random_weights: bool = Field(False, description="For timing only: the weights are random")
    resize: Resize = Field("stretch", description="How pictures take the input size")
    preparation: str = Field("", description="How pictures become the input, in words")
    prepared_by: PreparedBy = Field("file", description="Where the preparation is defined")


class Part(Message):
    """The segment of a network that a worker runs."""

    begin: str | None = Field(None, description="Operator after which it begins; null: from the images")
    end: str | None = Field(None, description="Last operator; null: to the scores")
    values_in: Count = Field(0, description="Values of a frame that it receives at `begin`; 0: images")
    values_out: Count = Field(0, description="Values of a frame that it sends at `end`; 0: scores")

    def __str__(self) -> str:
        return f"from {self.begin or 'the images'} to {self.end or 'the scores'}"


class WorkerHello(Greeting):
    """Worker to hub: the first message to each hub process that it meets, once its device is warm."""

    kind: Literal["worker_hello"] = "worker_hello"
    worker: str = Field(description="Name, such as local-0")
    device: str = Field(description="Name of the device, as its driver gives it")
    host: str = Field("", description="Host in the config; empty: the hub's host")
    precision: str = Field(description="fp32, fp16-weights, fp16 or bf16")
    batch: Positive = Field(description="Largest number of frames in a job")
    credit: Positive = Field(description="Largest number of jobs in flight")
    forward_s: Seconds = Field(0.0, description="Time of a full batch from submission to answer; 0: not measured")
    max_wait_s: Seconds = Field(0.0, description="Longest time that a frame waits for others of its job")
    model: ModelInfo = Field(description="Model that it runs")
    part: Part | None = Field(None, description="Segment that it runs; null: the whole network")
    excluded_variants: tuple[str, ...] = Field(
        (), description="Kernel variants that disagree with the reference on this device, and are not used"
    )
    features: Count = Field(0, description="Features of a frame for taught heads; 0: it cannot run heads")
    energy: EnergyMethod = Field(description="How energy is measured")
    energy_note: str = Field("", description="Explanation of `energy`, for people")
    attributed_rails: tuple[str, ...] = Field((), description="Rails whose joules are attributed to its jobs")
    idle_watts: dict[str, Seconds] = Field(
        default_factory=dict,
        description="Measured idle power by rail, which is subtracted from the joules of jobs",
    )


class HelloRequest(Message):
    """Hub to worker: send `WorkerHello` again. The hub had given up the worker, and hears from it again."""

    kind: Literal["hello_request"] = "hello_request"


class Job(Message):
    """Hub to worker: classify these frames.

    Payloads: one for each frame (uint8 RGB, height × width × 3). A segment behind a cut gets one payload with the
    features of all frames, as the segment before sent them.
    """

    kind: Literal["job"] = "job"
    job: Count = Field(description="Number of the job")
    frames: Positive = Field(description="Number of frames")
    top: Positive = Field(description="Number of classes in each answer")
    timeout_s: Seconds = Field(description="Time limit, from the answer to the job before")
    head: str = Field("", description="Version that answers, loaded before; empty: the model itself")
    shadow: str = Field("", description="Version that answers too, loaded before; empty: none")
    features: bool = Field(False, description="Return the features (input of the last Dense) too")


class Score(Message):
    """The score of one class for one frame."""

    index: Count = Field(description="Class index")
    score: float = Field(description="Probability, or the raw output of a model without softmax")


class JobDone(Message):
    """Timings and energy of a completed job."""

    job: Count = Field(description="Number of the job")
    upload_s: Seconds = Field(description="Duration of the upload")
    forward_s: Seconds = Field(description="Device time of the forward pass")
    download_s: Seconds = Field(description="Duration of the download")
    joules: Seconds | None = Field(None, description="Energy of the whole job; null: not measured")
    idle: Seconds = Field(0.0, description="Joules that were subtracted, since they are spent without a job too")
    rails: dict[str, Seconds] = Field(
        default_factory=dict, description="Joules by rail since the last report; each joule is reported once"
    )


class Scores(JobDone):
    """Worker to hub: the answer to a job.

    Payload if the job requests features: float32 [frames, features], little-endian, C order.
    """

    kind: Literal["scores"] = "scores"
    frames: tuple[tuple[Score, ...], ...] = Field(description="Top classes of each frame, best first")
    shadow: tuple[tuple[Score, ...], ...] = Field((), description="The same by the version in shadow")


class Features(JobDone):
    """Worker to hub: the answer of a segment that ends at a cut.

    Payload: float32 [frames, *shape of the tensor], little-endian, C order.
    """

    kind: Literal["features"] = "features"


class IdleEnergy(Message):
    """Worker to hub: energy spent while there was no job."""

    kind: Literal["idle_energy"] = "idle_energy"
    rails: dict[str, Seconds] = Field(description="Joules by rail since the last report")


class JobFailed(Message):
    """Worker to hub: the job failed; there is no answer."""

    kind: Literal["job_failed"] = "job_failed"
    job: Count = Field(description="Number of the job")
    reason: Literal["device_error", "not_finite"] = Field(
        description="not_finite: the output holds NaN or infinity"
    )
    error: str = Field(description="Explanation for people")
