"""`edged camera`: one camera process; the hub starts it."""

import argparse
import signal
from pathlib import Path

from edged import child, log
from edged.config_file import load_config
from edged.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the hub gives its children."""
    parser.add_argument("name", help="a camera of the config")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the hub's config")
    parser.add_argument("--hub", required=True, metavar="ADDRESS", help="ZeroMQ address of the hub")


def run(arguments: argparse.Namespace) -> int:
    """Serve the hub until the source ends, the hub says stop, or the hub is gone."""
    child.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the hub, which stops its children in order
    log.configure()
    cameras = load_config(arguments.config).cameras
    if arguments.name not in cameras:
        raise ConfigError(f"{arguments.config} has no camera {arguments.name!r}; it has {', '.join(cameras)}")
    from edged.camera.process import run_camera

    run_camera(arguments.name, cameras[arguments.name], arguments.hub)
    return 0
