"""How the cameras and workers of a node stand, and what its rails have supplied: what each status tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from edged.messages import CameraState, EnergySoFar, WorkerState


@dataclass(frozen=True, slots=True)
class Standing:
    """By name, each in the order of the config."""

    cameras: Mapping[str, CameraState] = field(default_factory=dict)
    workers: Mapping[str, WorkerState] = field(default_factory=dict)
    energy: EnergySoFar = field(default_factory=EnergySoFar)
