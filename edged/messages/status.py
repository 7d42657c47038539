"""The status that a node publishes each second: its cameras, workers and energy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from edged.messages.message import LARGEST, Count, EnergyMethod, Seconds
from edged.messages.published import Published

WorkerIs = Literal["serving", "standby", "starting", "off", "down"]


class CameraState(Published, frozen=True, kw_only=True):
    """State and frame counters of a camera: captured = predicted + dropped + frames in flight."""

    up: Annotated[bool, Meta(description="The source delivers pictures")]
    frozen: Annotated[bool, Meta(description="The source delivers the same picture again and again")] = False
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
    ] = msgspec.field(default_factory=dict)
    method: Annotated[EnergyMethod, Meta(description="How it is measured")] = "none"


class Status(Published, frozen=True, kw_only=True):
    """Topic `edged/<node>/status`, each second."""

    schema_version: Annotated[Literal[1], Meta(description="Version of this schema")] = msgspec.field(
        default=1, name="schema"
    )
    node: Annotated[str, Meta(description="Name of the node")]
    boot: Annotated[str, Meta(description="Identifier of this start of the hub")]
    at: Annotated[float, Meta(description="Time of this status, in seconds since 1970")]
    first_seq: Annotated[
        Count, Meta(description="Sequence number of the first prediction since this start, or of the next")
    ]
    last_seq: Annotated[
        int, Meta(ge=-1, le=LARGEST, description="Sequence number of the last prediction; −1 before the first")
    ]
    replay: Annotated[str, Meta(description="Address where missed predictions can be fetched")]
    cameras: Annotated[dict[str, int], Meta(description="Last frame predicted by camera; −1 before the first")]
    camera_states: Annotated[dict[str, CameraState], Meta(description="Every camera of the config")] = (
        msgspec.field(default_factory=dict)
    )
    workers: Annotated[dict[str, WorkerState], Meta(description="Every worker of the config, in its order")] = (
        msgspec.field(default_factory=dict)
    )
    energy: Annotated[EnergySoFar, Meta(description="Energy since this start")] = EnergySoFar()


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Cameras and workers by name, each in the order of the config, and the energy so far."""

    cameras: Mapping[str, CameraState] = field(default_factory=dict)
    workers: Mapping[str, WorkerState] = field(default_factory=dict)
    energy: EnergySoFar = field(default_factory=EnergySoFar)
