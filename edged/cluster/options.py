"""What a run takes of a cluster, and what each of its actors needs."""

from dataclasses import dataclass
from pathlib import Path

from edged import config


@dataclass(frozen=True)
class ClusterOptions:
    """The cluster and its part that a run takes. `resource`: what a node has for each device."""

    address: str
    resource: str
    actors: int | None


@dataclass(frozen=True)
class NodeOptions:
    """What an actor checks and opens on its node.

    `version`: of the driver's edged. `model_sha256`: of the driver's model. `folders`: required on every node.
    """

    version: str
    model: config.ModelConfig
    model_sha256: str
    worker: config.WorkerConfig
    folders: tuple[Path, ...]
