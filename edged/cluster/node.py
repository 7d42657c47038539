"""What an actor needs and does on its node: open the model and hold the device; report an error as an answer."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from edged import __version__, config
from edged.errors import ConfigError, DeviceError, EdgedError
from edged.model.package import Model, load_model
from edged.runtime.select import hold_device
from edged.runtime.threads import limit_threads

NO_ERROR = {"error": [""], "kind": [""]}


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


def model_of_node(options: NodeOptions) -> Model:
    """Load the model and lock the device, after checking that this node has what the driver has.

    Raises EdgedError.
    """
    limit_threads(options.worker.threads)
    if options.version != __version__:
        raise ConfigError(f"has edged {__version__}, but the driver has {options.version}: install the same")
    for folder in options.folders:
        if not folder.is_dir():
            raise ConfigError(f"{folder} is absent: mount it at the same place on every node")
    model = load_model(options.model)
    if model.sha256 != options.model_sha256:
        raise ConfigError(f"{model.name} is another file than the driver's: copy that to every node")
    try:
        hold_device(options.worker, f"actor-{os.getpid()}")
    except DeviceError as error:
        share = "a node needs the resource once for each device; actors share a CPU with --threads"
        raise DeviceError(f"{error} ({share})") from None
    return model


def error_columns(error: EdgedError) -> dict[str, list[str]]:
    """Return the columns of an answer that `edged.cluster.pool` raises at the driver.

    What an actor raises itself would be a traceback there.
    """
    return {"error": [f"node {socket.gethostname()}: {error}"], "kind": [type(error).__name__]}
