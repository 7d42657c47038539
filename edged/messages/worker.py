"""Between a worker and the hub."""

from typing import Literal

from pydantic import Field

from edged.messages.greeting import Greeting
from edged.messages.message import Count, EnergyMethod, Message, Positive, Seconds
from edged.messages.preparation import PreparedBy, Resize


class ModelInfo(Message):
    """The model that a worker runs. `labels` by class index.

    `resize`: how pictures take its size. `preparation`: how they become its input, for people; `prepared_by`: what
    says so.
    """

    name: str
    sha256: str
    labels: tuple[str, ...]
    width: Positive
    height: Positive
    random_weights: bool = False
    resize: Resize = "stretch"
    preparation: str = ""
    prepared_by: PreparedBy = "file"


class Part(Message):
    """The part of a network that a worker runs: from the cut `begin` to the cut `end`, by names of operators.

    None: from the images, to the scores. `values_in`, `values_out`: values of a frame that cross there; 0: none.
    """

    begin: str | None = None
    end: str | None = None
    values_in: Count = 0
    values_out: Count = 0

    def __str__(self) -> str:
        """For people."""
        return f"from {self.begin or 'the images'} to {self.end or 'the scores'}"


class WorkerHello(Greeting):
    """A worker's first message to each hub that it meets, once it is warm. `device` is the device's own name.

    `forward_s`: what a full batch took there, from its submission to its answer; 0 where nobody has measured it.
    `max_wait_s`: how long a frame may wait for others of its job. `host`: empty on the hub's own. `part`: None
    where it runs the whole network. `attributed_rails`: the rails whose joules are attributed to its jobs.
    `idle_watts`: power of the rails without load, where measured; it is subtracted. `features`: values of a frame
    from which a head can answer; 0: its part of the model has no place for one. `excluded_variants`: variants of
    kernels that disagree with the reference there, for people.
    """

    kind: Literal["worker_hello"] = "worker_hello"
    worker: str
    device: str
    host: str = ""
    precision: str
    batch: Positive
    credit: Positive
    forward_s: Seconds = 0.0
    max_wait_s: Seconds = 0.0
    model: ModelInfo
    part: Part | None = None
    excluded_variants: tuple[str, ...] = ()
    features: Count = 0
    energy: EnergyMethod
    energy_note: str = ""
    attributed_rails: tuple[str, ...] = ()
    idle_watts: dict[str, Seconds] = Field(default_factory=dict)


class HelloRequest(Message):
    """Hub to worker: say hello again; we have given you up, and hear that you live."""

    kind: Literal["hello_request"] = "hello_request"


class Job(Message):
    """Hub to worker: classify these frames (one payload each), in `timeout_s` once the job before is answered.

    For a part behind a cut there is one payload: the features of all frames, as the part before gave them.
    `head`: the version by which to answer, empty: the model itself; `shadow`: one that answers too. `features`:
    answer with what the last Dense reads as well. The worker has taken these heads before.
    """

    kind: Literal["job"] = "job"
    job: Count
    frames: Positive
    top: Positive
    timeout_s: Seconds
    head: str = ""
    shadow: str = ""
    features: bool = False


class Score(Message):
    """One class of one frame: index and probability (or what the model gives in its place)."""

    index: Count
    score: float


class JobDone(Message):
    """What a worker says of each job that it has done: its own timings and joules.

    `forward_s` is device time. `joules` is the whole job's, None where nothing was measured; `idle` is what was
    taken off it, since it would have been spent anyway. `rails` is what each rail has added since that was told
    last (each joule is told once).
    """

    job: Count
    upload_s: Seconds
    forward_s: Seconds
    download_s: Seconds
    joules: Seconds | None = None
    idle: Seconds = 0.0
    rails: dict[str, Seconds] = Field(default_factory=dict)


class Scores(JobDone):
    """A worker's answer: the top classes of each frame, best first; `shadow`: by the job's other head.

    Payload, where the job wants features: float32, little-endian, [frames, features], C order.
    """

    kind: Literal["scores"] = "scores"
    frames: tuple[tuple[Score, ...], ...]
    shadow: tuple[tuple[Score, ...], ...] = ()


class Features(JobDone):
    """The answer of a worker whose part ends at a cut: its payload is what crosses there.

    Payload: float32, little-endian, [frames, *shape of the tensor], C order.
    """

    kind: Literal["features"] = "features"


class IdleEnergy(Message):
    """What each rail has added while there was no job."""

    kind: Literal["idle_energy"] = "idle_energy"
    rails: dict[str, Seconds]


class JobFailed(Message):
    """A worker's answer where there is none: never an invented score."""

    kind: Literal["job_failed"] = "job_failed"
    job: Count
    reason: Literal["device_error", "not_finite"]
    error: str
