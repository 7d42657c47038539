"""`edged camera`: one camera process. The hub starts it; on another host a person or systemd does."""

import argparse
import signal
from pathlib import Path

from edged.cli.find_hub import hub_of
from edged.config.load import load_config
from edged.errors import ConfigError
from edged.system import log, parent_death


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    parser.add_argument("name", help="a camera of the config")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the config of the pipeline")
    parser.add_argument("--hub", metavar="ADDRESS", help="ZeroMQ address of the hub; default: link.address")


def run(arguments: argparse.Namespace) -> int:
    """Serve the hub until the source ends or the hub says stop."""
    if parent_death.end_with_parent():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the hub, which stops its children in order
    log.configure()
    config = load_config(arguments.config)
    if arguments.name not in config.cameras:
        known = ", ".join(config.cameras)
        raise ConfigError(f"{arguments.config} has no camera {arguments.name!r}; it has {known}")
    hub, curve = hub_of(config, arguments.config, arguments.hub)
    from edged.camera.process import run_camera

    run_camera(arguments.name, config.cameras[arguments.name], hub, curve)
    return 0
