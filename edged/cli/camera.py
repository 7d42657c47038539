"""`edged camera`: run one camera process. The hub starts it; on another host a person or systemd does."""

import argparse
import signal

from edged.cli.hub_address import hub_of
from edged.cli.options import add_example, add_process_options
from edged.config.load import load_config
from edged.errors import ConfigError
from edged.system import log
from edged.system.process_end import end_with_parent
from edged.system.python_packages import HTTP_PACKAGES, require


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the camera, the config and the hub."""
    parser.add_argument("name", metavar="NAME", help="a camera of the config")
    add_process_options(parser)
    add_example(parser, "edged camera door --config edged.yaml")


def run(arguments: argparse.Namespace) -> int:
    """Send frames until the source ends or the hub stops this process."""
    if end_with_parent():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the hub, which stops its children in order
    log.configure()
    config = load_config(arguments.config)
    if arguments.name not in config.cameras:
        known = ", ".join(config.cameras)
        raise ConfigError(f"{arguments.config} has no camera {arguments.name!r}; it has {known}")
    hub, curve = hub_of(config, arguments.config, arguments.hub)
    camera = config.cameras[arguments.name]
    if camera.serves_http:
        require(f"camera {arguments.name}", *HTTP_PACKAGES)
    if camera.serves_at:
        from edged.camera.served.process import run_served_camera

        run_served_camera(arguments.name, camera, config.model.path, hub, curve)
    else:
        from edged.camera.process import run_camera

        run_camera(arguments.name, camera, hub, curve)
    return 0
