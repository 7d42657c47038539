"""`edged fleet`: roll out models to boards through NATS, and the agent of a board that takes them."""

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from edged.cli.options import add_duration, add_every, add_example, add_hub_keys, add_json, duration, positive
from edged.fleet.gate import EXAMPLE

OPERATOR = Path("fleet.yaml")
ACTIONS = {
    "key": "create the key pair that signs models: NAME.signer.key and NAME.signer.pub",
    "publish": "sign a model, and store it for the fleet",
    "rollout": "start a roll-out: boards try the model, and promote it where it passes the gate",
    "status": "show the roll-out and all nodes",
    "top": "show the roll-out and all nodes, and keep updating",
    "pause": "pause the roll-out: no further board tries or promotes the model",
    "resume": "resume a paused roll-out",
    "rollback": "restore the previous model on every board of the roll-out",
    "agent": "follow the fleet's roll-outs on this board (a process beside `edged run`)",
    "trial": "verify a model on this board, and compare it with the active one",
}
RUN = {  # module and function of each action
    "key": "operator.make_key",
    "publish": "operator.publish",
    "rollout": "operator.change_rollout",
    "status": "operator.show",
    "top": "operator.show",
    "pause": "operator.change_rollout",
    "resume": "operator.change_rollout",
    "rollback": "operator.change_rollout",
    "agent": "board.run_agent",
    "trial": "board.run_trial",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one sub-command for each action."""
    add_example(parser, f"edged fleet rollout doors-2 --to 10% --then 100% --gate '{EXAMPLE}'")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        _OPTIONS[name](action)


def run(arguments: argparse.Namespace) -> int:
    """Import the module of the action, and run it."""
    module, _, function = RUN[arguments.action].partition(".")
    return int(getattr(importlib.import_module(f"edged.cli.fleet.{module}"), function)(arguments))


def _add_key(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the signer")
    folder = "where to write both files (default: the current folder)"
    parser.add_argument("--output", type=Path, default=Path(), metavar="FOLDER", help=folder)
    add_json(parser)
    add_example(parser, "edged fleet key alice")


def _add_publish(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", type=Path, metavar="FILE", help="an ONNX file, also compressed (.onnx.zst)")
    parser.add_argument("--name", metavar="NAME", help="name in the fleet (default: that of the file)")
    parser.add_argument("--key", type=Path, required=True, metavar="NAME.signer.key", help="key to sign it with")
    _add_operator(parser)
    add_example(parser, "edged fleet publish doors-2.onnx --key alice.signer.key")


def _add_rollout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a published model")
    first = "share of the nodes that try it first (default: 100%%)"
    parser.add_argument("--to", type=share, default=1.0, metavar="SHARE", help=first)
    then = "share of the next stage, which begins once all nodes before have promoted it; may be repeated"
    parser.add_argument("--then", type=share, action="append", default=[], metavar="SHARE", help=then)
    gate = f"conditions, such as {EXAMPLE}; x: times the figure of the model before"
    parser.add_argument("--gate", required=True, metavar="CONDITIONS", help=gate)
    _add_operator(parser)
    add_example(parser, f"edged fleet rollout doors-2 --to 10% --then 100% --gate '{EXAMPLE}'")


def _add_action(parser: argparse.ArgumentParser) -> None:
    _add_operator(parser)
    add_example(parser, f"{parser.prog} --config {OPERATOR}")


def _add_top(parser: argparse.ArgumentParser) -> None:
    add_every(parser, "time between two updates (default: 2s)", 2.0)
    _add_action(parser)


def _add_agent(parser: argparse.ArgumentParser) -> None:
    what = "the config of the node, with sections `nats` and `fleet`"
    parser.add_argument("config", type=Path, metavar="CONFIG", help=what)
    add_hub_keys(parser)
    add_example(parser, "edged fleet agent edged.yaml")


def _add_trial(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the config of the daemon that runs")
    parser.add_argument("model", type=Path, metavar="FILE", help="the model to try, an ONNX file")
    frames = "frames to compare (default: 200)"
    parser.add_argument("--frames", type=positive, default=200, metavar="N", help=frames)
    add_duration(parser, "time limit (default: 5m)", type=duration(3600), default=300.0)
    add_json(parser)
    add_example(parser, "edged fleet trial edged.yaml doors-2.onnx")


def _add_operator(parser: argparse.ArgumentParser) -> None:
    what = f"file with a section `nats`: the servers and the credentials (default: {OPERATOR})"
    parser.add_argument("--config", type=Path, default=OPERATOR, metavar="FILE", help=what)
    add_json(parser)


def share(text: str) -> float:
    """Parse a share of all nodes: `10%`, or `0.1`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share of the nodes: expected a share such as 10% or 0.1"
        )
    return value


_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "key": _add_key,
    "publish": _add_publish,
    "rollout": _add_rollout,
    "status": _add_action,
    "top": _add_top,
    "pause": _add_action,
    "resume": _add_action,
    "rollback": _add_action,
    "agent": _add_agent,
    "trial": _add_trial,
}
