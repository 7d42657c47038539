"""What crosses a link or is published, and its wire form.

A link joins the hub (ROUTER) with a camera or a worker (DEALER). A link message is
`[JSON header, payload …]`: a frame's payload is its pixels, a job's payloads are its frames' pixels in order, or
the features of all of them, where a network is cut in parts.
A published message is `[topic, JSON]`. All times `…_ns` are CLOCK_MONOTONIC of the hub's host.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edged.errors import MessageError

SCHEMA = 1
STAGES = ("capture", "preprocess", "wait", "upload", "forward", "download", "publish", "total")

LARGEST = 2**63 - 1  # what SQLite and a subscriber in another language can hold

Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Seconds = Annotated[float, Field(ge=0)]
EnergyMethod = Literal["measured", "estimated", "none"]


class Message(BaseModel):
    """Frozen, and closed: an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


# ── camera and hub ──────────────────────────────────────────────────────────────────────────────


class CameraCount(Message):
    """What one run of a camera process has counted since its start.

    `captured` = frames sent + `dropped`, exactly, at any moment that a message leaves.
    """

    captured: Count
    dropped: dict[str, Count]


class CameraHello(Message):
    """A camera's first message to each hub that it meets.

    `run`: new with each process, so that a hub knows one that it meets again; `count`: so far. `waits`: it
    captures only what is granted, so none of its frames grows stale.
    """

    kind: Literal["camera_hello"] = "camera_hello"
    protocol: int = SCHEMA
    camera: str
    run: str
    count: CameraCount
    waits: bool = False


class Capture(Message):
    """Hub to camera: start, with frames of this size (uint8, height × width × 3, RGB)."""

    kind: Literal["capture"] = "capture"
    width: Positive
    height: Positive


class ClockRequest(Message):
    """Camera on another host to hub: what time is it? `sent_ns` is of its own clock."""

    kind: Literal["clock_request"] = "clock_request"
    sent_ns: Count


class ClockAnswer(Message):
    """Hub to camera: `hub_ns` by its CLOCK_MONOTONIC, `hub_at` in seconds since 1970."""

    kind: Literal["clock_answer"] = "clock_answer"
    sent_ns: Count
    hub_ns: Count
    hub_at: float


class Grant(Message):
    """Hub to camera: so many more frames may be captured. Only a camera with `pace: fast` waits for it."""

    kind: Literal["grant"] = "grant"
    frames: Positive


class Frame(Message):
    """One image (payload: uint8, height × width × 3, RGB) with its history so far.

    `frame` counts from 0 with every captured frame, dropped ones too. `capture_s` is the time that the read
    took, and ends at `captured_ns` unless the picture was held up on its way to the camera process; `preprocess_s`
    follows it. Both times of the capture are the hub's, off by at most `clock_error_s` where the camera is on
    another host. `truth` is the label, where the source knows it.
    """

    kind: Literal["frame"] = "frame"
    camera: str
    frame: Count
    captured_at: float
    captured_ns: Count
    clock_error_s: Seconds = 0.0
    capture_s: Seconds
    preprocess_s: Seconds
    width: Positive
    height: Positive
    truth: str | None = None
    count: CameraCount


class CameraReport(Message):
    """State of a camera, once a second and at each change. The last one has `ended`."""

    kind: Literal["camera_report"] = "camera_report"
    camera: str
    up: bool
    error: str | None = None
    frozen: bool = False
    reconnects: Count = 0
    ended: bool = False
    count: CameraCount


# ── worker and hub ──────────────────────────────────────────────────────────────────────────────


class ModelInfo(Message):
    """The model that a worker runs. `labels` by class index."""

    name: str
    sha256: str
    labels: tuple[str, ...]
    width: Positive
    height: Positive
    random_weights: bool = False


class Part(Message):
    """The part of a network that a worker runs: from the cut `begin` to the cut `end`, by names of operators.

    None: from the images, to the scores. `takes` and `gives`: values of a frame that cross there; 0: none do.
    """

    begin: str | None = None
    end: str | None = None
    takes: Count = 0
    gives: Count = 0

    def __str__(self) -> str:
        """For people."""
        return f"from {self.begin or 'the images'} to {self.end or 'the scores'}"


class WorkerHello(Message):
    """A worker's first message to each hub that it meets, once it is warm. `device` is the device's own name.

    `forward_s`: what a full batch took there, from its submission to its answer; 0 where nobody has measured it.
    `max_wait_s`: how long a frame may wait for others of its job. `host`: empty on the hub's own. `part`: None
    where it runs the whole network.
    """

    kind: Literal["worker_hello"] = "worker_hello"
    protocol: int = SCHEMA
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
    energy: EnergyMethod
    energy_note: str = ""


class Greet(Message):
    """Hub to worker: say hello again; we have given you up, and hear that you live."""

    kind: Literal["greet"] = "greet"


class Job(Message):
    """Hub to worker: classify these frames (one payload each), in `allowed_s` once the job before is answered.

    For a part behind a cut there is one payload: the features of all frames, as the part before gave them.
    """

    kind: Literal["job"] = "job"
    job: Count
    frames: Positive
    top: Positive
    allowed_s: Seconds


class Score(Message):
    """One class of one frame: index and probability (or what the model gives in its place)."""

    index: Count
    score: float


class Scores(Message):
    """A worker's answer: the top classes of each frame, best first, with its own timings and joules.

    `forward_s` is device time. `joules` is the whole job's, None where nothing was measured; `rails` is what
    each rail's counter has added since the answer before (each joule is told once).
    """

    kind: Literal["scores"] = "scores"
    job: Count
    frames: tuple[tuple[Score, ...], ...]
    upload_s: Seconds
    forward_s: Seconds
    download_s: Seconds
    joules: Seconds | None = None
    rails: dict[str, Seconds] = {}


class Features(Message):
    """The answer of a worker whose part ends at a cut: its payload is what crosses there.

    Payload: float32, little-endian, [frames, *shape of the tensor], C order. The other fields are as in `Scores`.
    """

    kind: Literal["features"] = "features"
    job: Count
    upload_s: Seconds
    forward_s: Seconds
    download_s: Seconds
    joules: Seconds | None = None
    rails: dict[str, Seconds] = {}


class JobFailed(Message):
    """A worker's answer where there is none: never an invented score."""

    kind: Literal["job_failed"] = "job_failed"
    job: Count
    reason: Literal["device_error", "not_finite"]
    error: str


# ── `edged plan-split` in the hub's place, and worker ───────────────────────────────────────────


class Measure(Message):
    """To a worker: how long does each part of the network take there? In jobs of `frames`, for about `for_s`."""

    kind: Literal["measure"] = "measure"
    frames: Positive
    for_s: Seconds


class Place(Message):
    """Where a single tensor crosses: behind the operator `after`; None: the images, or the scores.

    `nbytes` of a job cross. `reached_s`: device time from the first kernel's start until it is there; `take_s`:
    what a worker needs to begin with it, from the payload to the device; `give_s`: to end with it, and back.
    """

    after: str | None
    nbytes: Count
    reached_s: Seconds
    take_s: Seconds
    give_s: Seconds


class Measured(Message):
    """A worker's answer: the places in order, from the images to the scores.

    `overlaps`: the host takes and gives while the device computes; on a CPU both want the same cores.
    """

    kind: Literal["measured"] = "measured"
    places: tuple[Place, ...]
    overlaps: bool


class Echo(Message):
    """To a worker, with a payload: answer with another one, of `wanted` bytes."""

    kind: Literal["echo"] = "echo"
    wanted: int = Field(ge=0, le=1 << 28)


class TakePart(Message):
    """To a worker: from now on run what lies behind `begin` up to `end`, and say hello with it.

    Each is the operator `after` of a place; None: from the images, or to the scores.
    """

    kind: Literal["take_part"] = "take_part"
    begin: str | None = None
    end: str | None = None


class Stop(Message):
    """Hub to camera or worker: finish and exit. `refused` says why, where the peer does not fit."""

    kind: Literal["stop"] = "stop"
    refused: str | None = None


# ── `edged reload` and hub ──────────────────────────────────────────────────────────────────────


class ReloadRequest(Message):
    """To the hub: read your config file again."""

    kind: Literal["reload"] = "reload"
    protocol: int = SCHEMA


class Reloaded(Message):
    """From the hub: what the file has changed, or why the config before goes on (not `accepted`)."""

    kind: Literal["reloaded"] = "reloaded"
    accepted: bool
    message: str


LinkMessage = (
    CameraHello | Capture | ClockRequest | ClockAnswer | Grant | Frame | CameraReport
    | WorkerHello | Greet | Job | Scores | Features | JobFailed | Measure | Measured | Echo | TakePart | Stop
    | ReloadRequest | Reloaded
)  # fmt: skip

_LINK: TypeAdapter[LinkMessage] = TypeAdapter(Annotated[LinkMessage, Field(discriminator="kind")])


def encode(message: LinkMessage) -> bytes:
    """The JSON header of a link message."""
    return message.model_dump_json().encode()


def decode(header: bytes | memoryview) -> LinkMessage:
    """The link message in a JSON header. Raises MessageError, which says what does not fit."""
    try:
        return _LINK.validate_json(bytes(header))
    except ValidationError as error:
        raise MessageError(f"not a message of protocol {SCHEMA}: {_places(error)}") from None


# ── published ───────────────────────────────────────────────────────────────────────────────────


class Published(Message):
    """Frozen, but open: a reader must accept what a newer edged adds."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Label(Published):
    """One of the top classes of a prediction."""

    label: str
    index: Count
    score: float


class PredictionModel(Published):
    """Which model answered, on what. In segments: devices, workers, and precisions that differ, joined by `+`."""

    name: str
    sha256: str
    precision: str
    device: str
    worker: str
    random_weights: bool = Field(False, description="True for a model that is for timing only")


class PredictionEnergy(Published):
    """What this prediction cost. `joules` is null unless measured or estimated."""

    joules: Seconds | None
    method: EnergyMethod
    rails: tuple[str, ...]


class StageSeconds(Published):
    """Where the time went. `total` runs from capture to publish and is the sum of all but `capture`."""

    capture: Seconds
    preprocess: Seconds
    wait: Seconds
    upload: Seconds
    forward: Seconds
    download: Seconds
    publish: Seconds
    total: Seconds


class Prediction(Published):
    """Topic `edged/<node>/<camera>/prediction`: the top-k labels of one frame with its whole history.

    `seq` grows by one with each prediction of a node, over restarts too; `boot` is new at every start.
    """

    schema_version: Literal[1] = Field(1, alias="schema")
    node: str
    boot: str
    seq: Count
    camera: str
    frame: Count = Field(
        description="Its number among all pictures of the camera, from 0; anew when its process starts again"
    )
    captured_at: float
    clock_error: Seconds = Field(
        0.0, description="Where the camera is on another host: by how many seconds its times may be wrong at most"
    )
    published_at: float
    model: PredictionModel
    top: tuple[Label, ...]
    truth: str | None = Field(None, description="The right label, where the source knows it")
    seconds: StageSeconds
    energy: PredictionEnergy
    journaled: bool = Field(
        True, description="False where it was not on disk when it was published, and may not be fetched again"
    )


class Event(Published):
    """Topic `edged/<node>/<camera>/event`, or `edged/<node>/event` where no camera is concerned."""

    schema_version: Literal[1] = Field(1, alias="schema")
    node: str
    boot: str
    at: float
    event: str = Field(description="camera_down, camera_up, camera_ended, worker_up, worker_lost, fallback …")
    camera: str | None = None
    worker: str | None = None
    message: str


class Status(Published):
    """Topic `edged/<node>/status`, each second."""

    schema_version: Literal[1] = Field(1, alias="schema")
    node: str
    boot: str
    at: float
    first_seq: Count = Field(description="Number of the first prediction since this start, or of the next one")
    last_seq: int = Field(ge=-1, le=LARGEST, description="−1 before the first prediction")
    replay: str = Field(description="Address where missed predictions can be fetched")
    cameras: dict[str, int] = Field(description="Last frame predicted by camera, −1 before the first")


def to_json(message: Prediction | Event | Status) -> bytes:
    """The JSON of a published message."""
    return message.model_dump_json(by_alias=True).encode()


def topic(node: str, camera: str | None, what: Literal["prediction", "event", "status"]) -> str:
    """`edged/<node>/<camera>/<what>`, without the camera where none is concerned."""
    return "/".join(part for part in ("edged", node, camera, what) if part)


def prediction_from_json(data: bytes) -> Prediction:
    """Raises MessageError for what is not a prediction of this schema."""
    try:
        return Prediction.model_validate_json(data)
    except ValidationError as error:
        raise MessageError(f"not a prediction of schema {SCHEMA}: {_places(error)}") from None


# ── replay: DEALER asks, ROUTER answers ─────────────────────────────────────────────────────────


class ReplayRequest(Message):
    """Ask for predictions by sequence number, or for those published since a wall time, oldest first."""

    kind: Literal["replay"] = "replay"
    first_seq: Count | None = None
    last_seq: Count | None = None
    since: float | None = None
    limit: int = Field(1000, ge=1, le=1000)


class ReplayAnswer(Message):
    """Followed by one payload (a prediction's JSON) for each of `predictions`.

    `first_kept` and `last_kept` bound what the journal holds (null: empty); `more`: ask again after the last.
    """

    kind: Literal["replay_answer"] = "replay_answer"
    predictions: Count
    first_kept: int | None
    last_kept: int | None
    more: bool


def _places(error: ValidationError) -> str:
    problems: Sequence[str] = [
        f"{'.'.join(map(str, e['loc'])) or 'header'}: {e['msg']}" for e in error.errors()[:5]
    ]
    return "; ".join(problems)
