"""`edged serve`: the daemon for other programs' requests, without a config: Frigate's `zmq` detector, and HTTP."""

import argparse
import json
from importlib.resources import files
from pathlib import Path

from edged.cli import run as daemon
from edged.cli.options import add_example, add_settings, address, http_address
from edged.config import FRIGATE_PREFIX, REQUESTS_PREFIX
from edged.config.overrides import Override
from edged.system.python_packages import HTTP_PACKAGES, require

FRIGATE = "answer Frigate's `zmq` detector: a daemon whose only camera is Frigate"
HTTP = (
    "answer programs that use HTTP: DeepStack's and CodeProject.AI's protocol, and the Open Inference Protocol; "
    "a daemon whose only camera is their requests"
)
ENDPOINT = "tcp://127.0.0.1:5555"
LISTEN = "127.0.0.1:32168"  # as CodeProject.AI does


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of clients."""
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    _add_frigate(kinds.add_parser("frigate", help=FRIGATE, description=FRIGATE))
    _add_http(kinds.add_parser("http", help=HTTP, description=HTTP))


def run(arguments: argparse.Namespace) -> int:
    """Run the daemon with the config for these clients, which is part of the package."""
    if arguments.kind == "http":
        require("edged serve http", *HTTP_PACKAGES)
    given = {
        "MODEL": ("model.path", arguments.model.absolute()),
        "--labels": ("model.labels", arguments.labels and arguments.labels.absolute()),
        arguments.option: (f"cameras.{arguments.kind}.source", f"{arguments.prefix}{arguments.endpoint}"),
    }
    arguments.config = Path(str(files("edged") / f"{arguments.kind}.yaml"))
    arguments.settings = [
        *(
            Override(source, tuple(key.split(".")), json.dumps(str(value)))
            for source, (key, value) in given.items()
            if value
        ),
        *arguments.settings,
    ]
    return daemon.run(arguments)


def _add_frigate(parser: argparse.ArgumentParser) -> None:
    _add_model(parser, "a detector, an ONNX file")
    endpoint = (
        f"detectors.NAME.endpoint of Frigate's config: tcp://127.0.0.1:PORT or ipc:///PATH (default: {ENDPOINT})"
    )
    parser.add_argument("--endpoint", type=address, default=ENDPOINT, metavar="ADDRESS", help=endpoint)
    parser.set_defaults(option="--endpoint", prefix=FRIGATE_PREFIX)
    _add_rest(
        parser,
        "edged serve frigate yolox_nano.onnx --labels coco.txt",
        "edged serve frigate yolox_nano.onnx --endpoint ipc:///run/edged/frigate",
    )


def _add_http(parser: argparse.ArgumentParser) -> None:
    _add_model(parser, "a detector or a classifier, an ONNX file")
    listen = f"where to listen; other hosts need TLS and a key, or --set (default: {LISTEN})"
    parser.add_argument(
        "--listen", dest="endpoint", type=http_address, default=LISTEN, metavar="HOST:PORT", help=listen
    )
    parser.set_defaults(option="--listen", prefix=REQUESTS_PREFIX)
    _add_rest(
        parser,
        "edged serve http yolox_nano.onnx --labels coco.txt",
        "edged serve http yolox_nano.onnx --listen 0.0.0.0:32168 --set cameras.http.requests.insecure=true",
    )


def _add_model(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("model", type=Path, metavar="MODEL", help=what)
    labels = "its labels, one a line (default: as its file has them)"
    parser.add_argument("--labels", type=Path, metavar="FILE", help=labels)


def _add_rest(parser: argparse.ArgumentParser, *examples: str) -> None:
    daemon.add_limits(parser)
    add_settings(parser)
    add_example(parser, *examples)
