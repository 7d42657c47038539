"""What is published, for readers of any age and language."""

from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from edged.errors import MessageError
from edged.messages.message import SCHEMA, Count, EnergyMethod, Message, Positive, Seconds, places_of

STAGES = ("capture", "preprocess", "wait", "upload", "forward", "download", "publish", "total")
SNAPSHOTS = "snapshot/"  # what the topics of all snapshots begin with


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


class ShadowAnswers(Published):
    """What was answered to a frame, and what another version would have (`edged teach shadow`)."""

    frame: Count = Field(description="Its number, as in the prediction")
    sha256: str = Field(description="Of the model whose answer was published")
    top: tuple[Label, ...]
    shadow_sha256: str = Field(description="Of the version that was only looked at")
    shadow_top: tuple[Label, ...]
    truth: str | None = None


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
    shadow: ShadowAnswers | None = Field(None, description="Of the event shadow alone: both answers to a frame")


class SnapshotHeader(Published):
    """Topic `snapshot/<node>/<camera>`: a small picture of a frame. A JPEG follows as the message's third part.

    Where the config asks for it; at most as often as it says, never fetched again.
    """

    schema_version: Literal[1] = Field(1, alias="schema")
    node: str
    boot: str
    camera: str
    frame: Count = Field(description="Its number, by which it belongs to a prediction, if there is one")
    captured_at: float
    width: Positive
    height: Positive


def to_json(message: Published) -> bytes:
    """The JSON of a published message."""
    return message.model_dump_json(by_alias=True).encode()


def topic(node: str, camera: str | None, what: Literal["prediction", "event", "status"]) -> str:
    """`edged/<node>/<camera>/<what>`, without the camera where none is concerned."""
    return "/".join(part for part in ("edged", node, camera, what) if part)


def snapshot_topic(node: str, camera: str) -> str:
    """Another one than those of `topic`: who subscribes to `edged/` gets no pictures."""
    return f"{SNAPSHOTS}{node}/{camera}"


def prediction_from_json(data: bytes) -> Prediction:
    """Raises MessageError for what is not a prediction of this schema."""
    try:
        return Prediction.model_validate_json(data)
    except ValidationError as error:
        raise MessageError(f"not a prediction of schema {SCHEMA}: {places_of(error)}") from None
