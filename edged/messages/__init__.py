"""What crosses a link or is published, and its wire form.

A link joins the hub (ROUTER) with a camera or a worker (DEALER). A link message is
`[JSON header, payload …]`: a frame's payload is its pixels, a job's payloads are its frames' pixels in order, or
the features of all of them, where a network is cut in parts.
A published message is `[topic, JSON]`, with a JPEG behind it where it is a snapshot.
All times `…_ns` are CLOCK_MONOTONIC of the hub's host.
"""

from edged.messages.camera import (
    CameraCount,
    CameraHello,
    CameraReport,
    Capture,
    ClockAnswer,
    ClockRequest,
    Frame,
    Grant,
    Snapshot,
    SnapshotWish,
)
from edged.messages.host import Frequency, HostState
from edged.messages.link import LinkMessage, Reloaded, ReloadRequest, Stop, decode, encode
from edged.messages.message import SCHEMA, Count, EnergyMethod, Positive, Seconds
from edged.messages.planning import Echo, Measure, Measured, Place, TakePart
from edged.messages.published import (
    SNAPSHOTS,
    STAGES,
    Event,
    Label,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    Published,
    SnapshotHeader,
    StageSeconds,
    prediction_from_json,
    snapshot_topic,
    to_json,
    topic,
)
from edged.messages.replay import ReplayAnswer, ReplayRequest
from edged.messages.status import CameraState, EnergySoFar, Status, WorkerIs, WorkerState
from edged.messages.worker import (
    Features,
    Greet,
    IdleEnergy,
    Job,
    JobFailed,
    ModelInfo,
    Part,
    Score,
    Scores,
    WorkerHello,
)

__all__ = [
    "SCHEMA",
    "SNAPSHOTS",
    "STAGES",
    "CameraCount",
    "CameraHello",
    "CameraReport",
    "CameraState",
    "Capture",
    "ClockAnswer",
    "ClockRequest",
    "Count",
    "Echo",
    "EnergyMethod",
    "EnergySoFar",
    "Event",
    "Features",
    "Frame",
    "Frequency",
    "Grant",
    "Greet",
    "HostState",
    "IdleEnergy",
    "Job",
    "JobFailed",
    "Label",
    "LinkMessage",
    "Measure",
    "Measured",
    "ModelInfo",
    "Part",
    "Place",
    "Positive",
    "Prediction",
    "PredictionEnergy",
    "PredictionModel",
    "Published",
    "ReloadRequest",
    "Reloaded",
    "ReplayAnswer",
    "ReplayRequest",
    "Score",
    "Scores",
    "Seconds",
    "Snapshot",
    "SnapshotHeader",
    "SnapshotWish",
    "StageSeconds",
    "Status",
    "Stop",
    "TakePart",
    "WorkerHello",
    "WorkerIs",
    "WorkerState",
    "decode",
    "encode",
    "prediction_from_json",
    "snapshot_topic",
    "to_json",
    "topic",
]
