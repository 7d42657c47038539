"""`edged serve`: the daemon for other programs' requests, without a config: Frigate's `zmq` detector."""

import argparse
import json
from importlib.resources import files
from pathlib import Path

from edged.cli import run as daemon
from edged.cli.options import add_example, add_settings, address
from edged.config import FRIGATE_PREFIX
from edged.config.overrides import Override

FRIGATE = "answer Frigate's `zmq` detector: a daemon whose only camera is Frigate"
ENDPOINT = "tcp://127.0.0.1:5555"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of clients."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    frigate = kinds.add_parser("frigate", help=FRIGATE, description=FRIGATE)
    frigate.add_argument("model", type=Path, metavar="MODEL", help="a detector, an ONNX file")
    labels = "its labels, one a line (default: as its file has them)"
    frigate.add_argument("--labels", type=Path, metavar="FILE", help=labels)
    endpoint = (
        f"detectors.NAME.endpoint of Frigate's config: tcp://127.0.0.1:PORT or ipc:///PATH (default: {ENDPOINT})"
    )
    frigate.add_argument("--endpoint", type=address, default=ENDPOINT, metavar="ADDRESS", help=endpoint)
    daemon.add_limits(frigate)
    add_settings(frigate)
    add_example(
        frigate,
        "edged serve frigate yolox_nano.onnx --labels coco.txt",
        "edged serve frigate yolox_nano.onnx --endpoint ipc:///run/edged/frigate",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the daemon with the config for Frigate, which is part of the package."""
    given = {
        "MODEL": ("model.path", arguments.model.absolute()),
        "--labels": ("model.labels", arguments.labels and arguments.labels.absolute()),
        "--endpoint": ("cameras.frigate.source", f"{FRIGATE_PREFIX}{arguments.endpoint}"),
    }
    arguments.config = Path(str(files("edged") / "frigate.yaml"))
    arguments.settings = [
        *(
            Override(source, tuple(key.split(".")), json.dumps(str(value)))
            for source, (key, value) in given.items()
            if value
        ),
        *arguments.settings,
    ]
    return daemon.run(arguments)
