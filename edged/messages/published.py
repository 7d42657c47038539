"""Published messages. Readers of any version and language can parse them: new fields may be added."""

from typing import Literal

from pydantic import ConfigDict, Field, ValidationError

from edged.errors import MessageError
from edged.messages.message import SCHEMA, Count, EnergyMethod, Message, Positive, Seconds, field_errors

STAGES = ("capture", "preprocess", "wait", "upload", "forward", "download", "publish", "total")
SNAPSHOTS = "snapshot/"  # prefix of the topics of all snapshots


class Published(Message):
    """The base of published messages: immutable; unknown fields are ignored, since a newer edged adds some."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Label(Published):
    """One of the top classes of a prediction."""

    label: str = Field(description="Label of the class")
    index: Count = Field(description="Class index")
    score: float = Field(description="Probability, or the raw output of a model without softmax")


class PredictionModel(Published):
    """The model that answered, and the device.

    For a network in segments `device` and `worker` list all of them, `precision` those that differ, joined by `+`.
    """

    name: str = Field(description="Name of the model")
    sha256: str = Field(description="SHA-256 of the model or of the taught version")
    precision: str = Field(description="fp32, fp16-weights, fp16 or bf16")
    device: str = Field(description="Name of the device")
    worker: str = Field(description="Name of the worker")
    random_weights: bool = Field(False, description="True for a model that is for timing only")


class PredictionEnergy(Published):
    """Energy of this prediction."""

    joules: Seconds | None = Field(description="null: neither measured nor estimated")
    method: EnergyMethod = Field(description="How it is known")
    rails: tuple[str, ...] = Field(description="Power rails whose energy is included")


class StageSeconds(Published):
    """Duration of each stage, in seconds. `total` is the sum of all others but `capture`."""

    capture: Seconds = Field(description="Reading the picture")
    preprocess: Seconds = Field(description="From the capture until the frame was sent to the hub")
    wait: Seconds = Field(description="Waiting in the hub and at the worker")
    upload: Seconds = Field(description="Upload to the device")
    forward: Seconds = Field(description="Forward pass on the device")
    download: Seconds = Field(description="Download from the device")
    publish: Seconds = Field(description="From the answer to the publication")
    total: Seconds = Field(description="From the end of the capture to the publication")


class Prediction(Published):
    """Topic `edged/<node>/<camera>/prediction`: the top-k labels of one frame with its whole history.

    Subscribers detect lost predictions by gaps in `seq`.
    """

    schema_version: Literal[1] = Field(1, alias="schema", description="Version of this schema")
    node: str = Field(description="Name of the node")
    boot: str = Field(description="Identifier of this start of the hub")
    seq: Count = Field(description="Sequence number, one higher with each prediction of a node, over restarts too")
    camera: str = Field(description="Name of the camera")
    frame: Count = Field(
        description="Number of the picture, from 0 since the camera process started; dropped ones count too"
    )
    captured_at: float = Field(description="End of the capture, in seconds since 1970")
    clock_error: Seconds = Field(
        0.0, description="Largest error of `captured_at`, in seconds; 0 for a camera on the hub's host"
    )
    published_at: float = Field(description="Publication, in seconds since 1970")
    model: PredictionModel = Field(description="Model and device that answered")
    top: tuple[Label, ...] = Field(description="Top classes, best first")
    truth: str | None = Field(None, description="Correct label, where the source knows it")
    seconds: StageSeconds = Field(description="Duration of each stage")
    energy: PredictionEnergy = Field(description="Energy of this prediction")
    journaled: bool = Field(True, description="False: not on disk when published, so a replay may lack it")


class ShadowAnswers(Published):
    """The published answer to a frame beside that of a version in shadow (`edged teach shadow`)."""

    frame: Count = Field(description="Number of the frame, as in the prediction")
    sha256: str = Field(description="SHA-256 of the model that answered")
    top: tuple[Label, ...] = Field(description="Published answer, best first")
    shadow_sha256: str = Field(description="SHA-256 of the version in shadow")
    shadow_top: tuple[Label, ...] = Field(description="Answer of the version in shadow, best first")
    truth: str | None = Field(None, description="Correct label, where the source knows it")


class Event(Published):
    """Topic `edged/<node>/<camera>/event`, or `edged/<node>/event` if no camera is concerned."""

    schema_version: Literal[1] = Field(1, alias="schema", description="Version of this schema")
    node: str = Field(description="Name of the node")
    boot: str = Field(description="Identifier of this start of the hub")
    at: float = Field(description="Time of the event, in seconds since 1970")
    event: str = Field(description="camera_down, camera_up, camera_ended, worker_up, worker_lost, fallback …")
    camera: str | None = Field(None, description="Camera concerned")
    worker: str | None = Field(None, description="Worker concerned")
    message: str = Field(description="Explanation for people")
    state: str | None = Field(None, description="What the camera sees now; only of the event `state`")
    shadow: ShadowAnswers | None = Field(None, description="Both answers to a frame; only of the event `shadow`")


class SnapshotHeader(Published):
    """Topic `snapshot/<node>/<camera>`: a small picture of a frame. The JPEG is the message's third part.

    Published if the config of the camera has `snapshot`; it is not in the journal.
    """

    schema_version: Literal[1] = Field(1, alias="schema", description="Version of this schema")
    node: str = Field(description="Name of the node")
    boot: str = Field(description="Identifier of this start of the hub")
    camera: str = Field(description="Name of the camera")
    frame: Count = Field(description="Number of the frame, as in its prediction, if there is one")
    captured_at: float = Field(description="End of the capture, in seconds since 1970")
    width: Positive = Field(description="In pixels")
    height: Positive = Field(description="In pixels")


def to_json(message: Published) -> bytes:
    """Return the JSON of a published message."""
    return message.model_dump_json(by_alias=True).encode()


def topic(node: str, camera: str | None, what: Literal["prediction", "event", "status"]) -> str:
    """Return `edged/<node>/<camera>/<what>`, or `edged/<node>/<what>` if no camera is concerned."""
    return "/".join(part for part in ("edged", node, camera, what) if part)


def snapshot_topic(node: str, camera: str) -> str:
    """Return the topic of snapshots, outside of `edged/`: subscribers to that prefix get no pictures."""
    return f"{SNAPSHOTS}{node}/{camera}"


def prediction_from_json(data: bytes) -> Prediction:
    """Parse a prediction. Raises MessageError if it is not one of this schema."""
    try:
        return Prediction.model_validate_json(data)
    except ValidationError as error:
        raise MessageError(f"not a prediction of schema {SCHEMA}: {field_errors(error)}") from None


def is_right(prediction: Prediction) -> bool | None:
    """Check whether the best label is the true one; None if that is unknown, or if the weights are random."""
    if prediction.truth is None or prediction.model.random_weights or not prediction.top:
        return None
    return prediction.top[0].label == prediction.truth
