"""The status that a node publishes each second: its cameras, workers and energy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from edged.messages.message import LARGEST, Count, EnergyMethod, Seconds
from edged.messages.published import Published

WorkerIs = Literal["serving", "standby", "starting", "off", "down"]


class CameraState(Published):
    """State and frame counters of a camera: captured = predicted + dropped + frames in flight."""

    up: bool = Field(description="The source delivers pictures")
    frozen: bool = Field(False, description="The source delivers the same picture again and again")
    ended: bool = Field(False, description="The source, a file, is finished and does not start again")
    error: str | None = Field(None, description="Why it is down, if it reported a reason")
    captured: Count = Field(description="Frames captured")
    predicted: Count = Field(description="Predictions published")
    dropped: dict[str, Count] = Field(description="Frames dropped, by reason")
    reconnects: Count = Field(description="Recoveries from a failure of its source or process")
    snapshots: bool = Field(False, description="Its config has snapshots published")
    state: str | None = Field(
        None, description="What it sees, if `states` of the config names it: one of these labels, or unknown"
    )


class WorkerState(Published):
    """State of a worker of the config."""

    device: str = Field(
        description="Name that the driver gives; before the worker is ready, `device` of the config"
    )
    state: WorkerIs = Field(
        description="serving: gets jobs; standby: ready, without jobs; starting; off: started when required; "
        "down: lost"
    )
    restarts: Count = Field(description="Number of times that it was lost since the node started")


class EnergySoFar(Published):
    """Energy that the power rails have supplied since the node started, idle time included."""

    rails: dict[str, Seconds] = Field({}, description="Joules by rail; HOST/RAIL for those of other hosts")
    method: EnergyMethod = Field("none", description="How it is measured")


class Status(Published):
    """Topic `edged/<node>/status`, each second."""

    schema_version: Literal[1] = Field(1, alias="schema", description="Version of this schema")
    node: str = Field(description="Name of the node")
    boot: str = Field(description="Identifier of this start of the hub")
    at: float = Field(description="Time of this status, in seconds since 1970")
    first_seq: Count = Field(
        description="Sequence number of the first prediction since this start, or of the next"
    )
    last_seq: int = Field(
        ge=-1, le=LARGEST, description="Sequence number of the last prediction; −1 before the first"
    )
    replay: str = Field(description="Address where missed predictions can be fetched")
    cameras: dict[str, int] = Field(description="Last frame predicted by camera; −1 before the first")
    camera_states: dict[str, CameraState] = Field({}, description="Every camera of the config")
    workers: dict[str, WorkerState] = Field({}, description="Every worker of the config, in its order")
    energy: EnergySoFar = Field(EnergySoFar(), description="Energy since this start")


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Cameras and workers by name, each in the order of the config, and the energy so far."""

    cameras: Mapping[str, CameraState] = field(default_factory=dict)
    workers: Mapping[str, WorkerState] = field(default_factory=dict)
    energy: EnergySoFar = field(default_factory=EnergySoFar)
