"""What an actor does on its node: open the model and hold the device; report an error as an answer."""

import os
import socket

from edged import __version__
from edged.cluster.options import NodeOptions
from edged.errors import ConfigError, DeviceError, EdgedError
from edged.model.package import Model, load_model
from edged.runtime.select import hold_device
from edged.worker.threads import limit_threads

NO_ERROR = {"error": [""], "kind": [""]}


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
