"""The status that a node publishes each second: its cameras, workers and energy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from edged.messages.message import LARGEST, Count, EnergyMethod, Seconds
from edged.messages.published import Published

WorkerIs = Literal["serving", "standby", "starting", "off", "down"]


class CameraState(Published):
    """A camera, and what became of its frames: captured = predicted + dropped + a few that are under way."""

    up: bool = Field(description="Whether it gives frames")
    frozen: bool = Field(False, description="True while it gives the same picture again and again")
    ended: bool = Field(False, description="True for a file that is over, and is not begun again")
    error: str | None = Field(None, description="Why it is down, where it has said so")
    captured: Count
    predicted: Count
    dropped: dict[str, Count] = Field(description="Frames let go, by reason")
    reconnects: Count = Field(description="How often it came back after a failure of its source or process")
    snapshots: bool = Field(False, description="Whether its config has small pictures of it published")


class WorkerState(Published):
    """A worker of the config."""

    device: str = Field(description="As the worker calls it; as the config does, before the worker is there")
    state: WorkerIs = Field(
        description="serving: gets jobs; standby: ready, without jobs; starting; off: started when required; "
        "down: lost"
    )
    restarts: Count = Field(description="How often it was lost since the node started")


class EnergySoFar(Published):
    """What the power rails have supplied since this start, idle time included."""

    rails: dict[str, Seconds] = Field({}, description="Joules by rail; HOST/RAIL for those of other hosts")
    method: EnergyMethod = "none"


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
    camera_states: dict[str, CameraState] = Field({}, description="Every camera of the config")
    workers: dict[str, WorkerState] = Field({}, description="Every worker of the config, in its order")
    energy: EnergySoFar = EnergySoFar()


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """By name, each in the order of the config."""

    cameras: Mapping[str, CameraState] = field(default_factory=dict)
    workers: Mapping[str, WorkerState] = field(default_factory=dict)
    energy: EnergySoFar = field(default_factory=EnergySoFar)
