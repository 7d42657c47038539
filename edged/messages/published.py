"""Published messages: predictions, events, snapshots, and the status of a node.

Readers of any version and language can parse them: new fields may be added.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain, repeat
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from edged.errors import MessageError
from edged.messages.detection import Corners, FoundBox
from edged.messages.message import INVALID_JSON, LARGEST, SCHEMA, Content, Count, EnergyMethod, Positive, Seconds
from edged.messages.worker import Score

STAGES = ("capture", "preprocess", "wait", "upload", "forward", "download", "publish", "total")
PRESENT, ABSENT = "present", "absent"  # states of what a detector finds
SNAPSHOTS = "snapshot/"  # prefix of the topics of all snapshots


class Published(Content, frozen=True):
    """The base of published messages: immutable; unknown fields are ignored, since a newer edged adds some."""


class NodeMessage(Published, frozen=True, kw_only=True):
    """The base of messages that a node publishes on topics of their own."""

    schema_version: Annotated[Literal[1], Meta(description="Version of this schema")] = field(
        default=1, name="schema"
    )
    node: Annotated[str, Meta(description="Name of the node")]
    boot: Annotated[str, Meta(description="Identifier of this start of the hub")]


class Label(Published, frozen=True):
    """One of the top classes of a prediction."""

    label: Annotated[str, Meta(description="Label of the class")]
    index: Annotated[Count, Meta(description="Class index")]
    score: Annotated[float, Meta(description="Probability of the class")]


def labels_of(top: tuple[Score, ...], labels: tuple[str, ...]) -> tuple[Label, ...]:
    """Return the `top` highest scores with the names of their classes."""
    return tuple(Label(label=labels[each.index], index=each.index, score=each.score) for each in top)


class Box(Published, frozen=True):
    """An object that a detector found in a picture."""

    label: Annotated[str, Meta(description="Label of the class")]
    index: Annotated[Count, Meta(description="Class index")]
    score: Annotated[float, Meta(description="Score of the box, 0 to 1")]
    box: Corners
    track: Annotated[
        Count | None,
        Meta(
            description="Number of the object, the same over the frames of this camera since the node started; "
            "null: not seen twice yet, or `model.boxes.track` is off"
        ),
    ] = None


Region = tuple[float, float, float, float]  # left, top, right, bottom as shares
WHOLE: Region = (0.0, 0.0, 1.0, 1.0)


def boxes_of(
    found: Iterable[FoundBox],
    labels: tuple[str, ...],
    region: Region | None = None,
    tracks: Iterable[int | None] = (),
) -> tuple[Box, ...]:
    """Return boxes with the names of their classes, in the picture that `region` is a part of; None: all of it.

    `tracks`: the number of each; empty: none has one.
    """
    left, top, right, bottom = region or WHOLE
    across, down = right - left, bottom - top
    return tuple(
        Box(
            label=labels[each.index],
            index=each.index,
            score=each.score,
            box=(left + a * across, top + b * down, left + c * across, top + d * down),
            track=track,
        )
        for each, track in zip(found, chain(tracks, repeat(None)), strict=False)
        for a, b, c, d in (each.box,)
    )


class PredictionModel(Published, frozen=True):
    """The model that answered, and the device.

    For a network in segments `device` and `worker` list all of them, `precision` those that differ, joined by `+`.
    """

    name: Annotated[str, Meta(description="Name of the model")]
    sha256: Annotated[str, Meta(description="SHA-256 of the model or of the taught version")]
    precision: Annotated[str, Meta(description="fp32, fp16-weights, fp16 or bf16")]
    device: Annotated[str, Meta(description="Name of the device")]
    worker: Annotated[str, Meta(description="Name of the worker")]
    random_weights: Annotated[bool, Meta(description="True for a model that is for timing only")] = False
    scores: Annotated[
        Literal["exclusive", "independent"],
        Meta(description="exclusive: their sum over all classes is 1; independent: any number of labels holds"),
    ] = "exclusive"


class PredictionEnergy(Published, frozen=True):
    """Energy of this prediction."""

    joules: Annotated[Seconds | None, Meta(description="null: neither measured nor estimated")]
    method: Annotated[EnergyMethod, Meta(description="How it is known")]
    rails: Annotated[tuple[str, ...], Meta(description="Power rails whose energy is included")]


class StageSeconds(Published, frozen=True):
    """Duration of each stage, in seconds. `total` is the sum of all others but `capture`."""

    capture: Annotated[Seconds, Meta(description="Reading the picture")]
    preprocess: Annotated[Seconds, Meta(description="From the capture until the frame was sent to the hub")]
    wait: Annotated[Seconds, Meta(description="Waiting in the hub and at the worker")]
    upload: Annotated[Seconds, Meta(description="Upload to the device")]
    forward: Annotated[Seconds, Meta(description="Forward pass on the device")]
    download: Annotated[Seconds, Meta(description="Download from the device")]
    publish: Annotated[Seconds, Meta(description="From the answer to the publication")]
    total: Annotated[Seconds, Meta(description="From the end of the capture to the publication")]


class Prediction(NodeMessage, frozen=True, kw_only=True):
    """Topic `edged/<node>/<camera>/prediction`: the top-k labels of one frame with its whole history.

    Subscribers detect lost predictions by gaps in `seq`.
    """

    seq: Annotated[
        Count, Meta(description="Sequence number, one higher with each prediction of a node, over restarts too")
    ]
    camera: Annotated[str, Meta(description="Name of the camera")]
    frame: Annotated[
        Count,
        Meta(description="Number of the picture, from 0 since the camera process started; dropped ones count too"),
    ]
    captured_at: Annotated[float, Meta(description="End of the capture, in seconds since 1970")]
    clock_error: Annotated[
        Seconds, Meta(description="Largest error of `captured_at`, in seconds; 0 for a camera on the hub's host")
    ] = 0.0
    published_at: Annotated[float, Meta(description="Publication, in seconds since 1970")]
    model: Annotated[PredictionModel, Meta(description="Model and device that answered")]
    top: Annotated[
        tuple[Label, ...],
        Meta(
            description="Top classes, best first; where `model.scores` is independent, all that reach their "
            "thresholds, possibly none; of a detector those of the boxes, with the best score of each"
        ),
    ]
    boxes: Annotated[
        tuple[Box, ...] | None,
        Meta(description="What a detector found, best first; null: of a classifier"),
    ] = None
    truth: Annotated[str | None, Meta(description="Correct label, where the source knows it")] = None
    seconds: Annotated[StageSeconds, Meta(description="Duration of each stage")]
    energy: Annotated[PredictionEnergy, Meta(description="Energy of this prediction")]
    journaled: Annotated[bool, Meta(description="False: not on disk when published, so a replay may lack it")] = (
        True
    )


class ShadowAnswers(Published, frozen=True):
    """The published answer to a frame beside that of a version in shadow (`edged teach shadow`)."""

    frame: Annotated[Count, Meta(description="Number of the frame, as in the prediction")]
    sha256: Annotated[str, Meta(description="SHA-256 of the model that answered")]
    top: Annotated[tuple[Label, ...], Meta(description="Published answer, best first")]
    shadow_sha256: Annotated[str, Meta(description="SHA-256 of the version in shadow")]
    shadow_top: Annotated[tuple[Label, ...], Meta(description="Answer of the version in shadow, best first")]
    truth: Annotated[str | None, Meta(description="Correct label, where the source knows it")] = None


class Event(NodeMessage, frozen=True, kw_only=True):
    """Topic `edged/<node>/<camera>/event`, or `edged/<node>/event` if no camera is concerned."""

    at: Annotated[float, Meta(description="Time of the event, in seconds since 1970")]
    event: Annotated[
        str, Meta(description="camera_down, camera_up, camera_ended, worker_up, worker_lost, fallback …")
    ]
    camera: Annotated[str | None, Meta(description="Camera concerned")] = None
    worker: Annotated[str | None, Meta(description="Worker concerned")] = None
    message: Annotated[str, Meta(description="Explanation for people")]
    state: Annotated[
        str | None,
        Meta(
            description="What the camera sees now; only of the event `state`: a label or unknown, or where `name` "
            "is given present, absent or a number"
        ),
    ] = None
    name: Annotated[
        str | None,
        Meta(description="Which of the camera's `present` and `count` has this state; null: its labels"),
    ] = None
    shadow: Annotated[
        ShadowAnswers | None, Meta(description="Both answers to a frame; only of the event `shadow`")
    ] = None


class SnapshotHeader(NodeMessage, frozen=True, kw_only=True):
    """Topic `snapshot/<node>/<camera>`: a small picture of a frame. The JPEG is the message's third part.

    Published if the config of the camera has `snapshot`; it is not in the journal.
    """

    camera: Annotated[str, Meta(description="Name of the camera")]
    frame: Annotated[Count, Meta(description="Number of the frame, as in its prediction, if there is one")]
    captured_at: Annotated[float, Meta(description="End of the capture, in seconds since 1970")]
    width: Annotated[Positive, Meta(description="In pixels")]
    height: Annotated[Positive, Meta(description="In pixels")]
    region: Annotated[
        Corners | None, Meta(description="Part of the camera's picture that it shows; null: all of it")
    ] = None


_encoder = msgspec.json.Encoder()
_predictions = msgspec.json.Decoder(Prediction)


def to_json(message: Published) -> bytes:
    """Return the JSON of a published message."""
    return _encoder.encode(message)


def topic(node: str, camera: str | None, what: Literal["prediction", "event", "status"]) -> str:
    """Return `edged/<node>/<camera>/<what>`, or `edged/<node>/<what>` if no camera is concerned."""
    return "/".join(part for part in ("edged", node, camera, what) if part)


def snapshot_topic(node: str, camera: str) -> str:
    """Return the topic of snapshots, outside of `edged/`: subscribers to that prefix get no pictures."""
    return f"{SNAPSHOTS}{node}/{camera}"


def prediction_from_json(data: bytes) -> Prediction:
    """Parse a prediction. Raises MessageError if it is not one of this schema."""
    try:
        return _predictions.decode(data)
    except INVALID_JSON as error:
        raise MessageError(f"not a prediction of schema {SCHEMA}: {error}") from None


def answers_of(prediction: Prediction) -> tuple[Label, ...]:
    """Return the labels that are there: the best one, or all of independent scores."""
    return prediction.top if prediction.model.scores == "independent" else prediction.top[:1]


def found_in_words(boxes: Iterable[Box]) -> str:
    """Return how many boxes of each label there are, for people: `2 × person, car`."""
    counts = Counter(box.label for box in boxes)
    return ", ".join(f"{count} × {label}" if count > 1 else label for label, count in counts.items())


def is_right(prediction: Prediction) -> bool | None:
    """Check whether the true label is there; None if it is unknown, or if the weights are random."""
    answers = answers_of(prediction)
    is_answered = answers or prediction.model.scores == "independent"
    if prediction.truth is None or prediction.model.random_weights or not is_answered:
        return None
    return prediction.truth in [answer.label for answer in answers]


WorkerIs = Literal["serving", "standby", "starting", "off", "down"]


class CameraState(Published, frozen=True, kw_only=True):
    """State and frame counters of a camera: captured = predicted + dropped + frames in flight."""

    up: Annotated[bool, Meta(description="The source delivers pictures")]
    frozen: Annotated[bool, Meta(description="The source delivers the same picture again and again")] = False
    still: Annotated[
        bool, Meta(description="Frozen since nothing in the scene has changed for `still_s`; the pictures differ")
    ] = False
    ended: Annotated[bool, Meta(description="The source, a file, is finished and does not start again")] = False
    error: Annotated[str | None, Meta(description="Why it is down, if it reported a reason")] = None
    captured: Annotated[Count, Meta(description="Frames captured")]
    predicted: Annotated[Count, Meta(description="Predictions published")]
    dropped: Annotated[dict[str, Count], Meta(description="Frames dropped, by reason")]
    reconnects: Annotated[Count, Meta(description="Recoveries from a failure of its source or process")]
    snapshots: Annotated[bool, Meta(description="Its config has snapshots published")] = False
    state: Annotated[
        str | None,
        Meta(description="What it sees, if `states` of the config names it: one of these labels, or unknown"),
    ] = None
    present: Annotated[
        dict[str, bool], Meta(description="Of `present` of its states, by name: whether it is there")
    ] = field(default_factory=dict)
    count: Annotated[
        dict[str, Count], Meta(description="Of `count` of its states, by name: how many there are")
    ] = field(default_factory=dict)


class WorkerState(Published, frozen=True):
    """State of a worker of the config."""

    device: Annotated[
        str, Meta(description="Name that the driver gives; before the worker is ready, `device` of the config")
    ]
    state: Annotated[
        WorkerIs,
        Meta(
            description="serving: gets jobs; standby: ready, without jobs; starting; off: started when required; "
            "down: lost"
        ),
    ]
    restarts: Annotated[Count, Meta(description="Number of times that it was lost since the node started")]


class EnergySoFar(Published, frozen=True):
    """Energy that the power rails have supplied since the node started, idle time included."""

    rails: Annotated[
        dict[str, Seconds], Meta(description="Joules by rail; HOST/RAIL for those of other hosts")
    ] = field(default_factory=dict)
    method: Annotated[EnergyMethod, Meta(description="How it is measured")] = "none"


class Status(NodeMessage, frozen=True, kw_only=True):
    """Topic `edged/<node>/status`, each second."""

    at: Annotated[float, Meta(description="Time of this status, in seconds since 1970")]
    first_seq: Annotated[
        Count, Meta(description="Sequence number of the first prediction since this start, or of the next")
    ]
    last_seq: Annotated[
        int, Meta(ge=-1, le=LARGEST, description="Sequence number of the last prediction; −1 before the first")
    ]
    replay: Annotated[str, Meta(description="Address where missed predictions can be fetched")]
    cameras: Annotated[dict[str, int], Meta(description="Last frame predicted by camera; −1 before the first")]
    camera_states: Annotated[dict[str, CameraState], Meta(description="Every camera of the config")] = field(
        default_factory=dict
    )
    workers: Annotated[dict[str, WorkerState], Meta(description="Every worker of the config, in its order")] = (
        field(default_factory=dict)
    )
    energy: Annotated[EnergySoFar, Meta(description="Energy since this start")] = EnergySoFar()


@dataclasses.dataclass(frozen=True, slots=True)
class NodeStatus:
    """Cameras and workers by name, each in the order of the config, and the energy so far."""

    cameras: Mapping[str, CameraState] = dataclasses.field(default_factory=dict)
    workers: Mapping[str, WorkerState] = dataclasses.field(default_factory=dict)
    energy: EnergySoFar = dataclasses.field(default_factory=EnergySoFar)
