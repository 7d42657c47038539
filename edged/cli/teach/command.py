"""`edged teach`: teach new labels to the network of a daemon, from the crops of its own cameras."""

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from edged.cli.options import (
    above_zero,
    add_config,
    add_duration,
    add_every,
    add_example,
    add_json,
    duration,
    positive,
)
from edged.messages.teaching import LONGEST_TEACH_S, MOST_A_SECOND
from edged.runtime.threads import multiply_in_one_thread

ACTIONS = {
    "record": "record crops of a camera under a label, until Ctrl-C",
    "list": "list the labels and their crops, with pictures if the terminal shows 24-bit colours",
    "forget": "remove the crops of a label, or one crop",
    "repair": "read every crop, and move damaged ones to damaged/",
    "train": "train a head on all labels: a new version",
    "shadow": "run a version in shadow of the active one, and compare their answers",
    "promote": "activate a version, from the next job on",
    "rollback": "activate the previous version",
    "versions": "list the trained versions, and show the active one",
}
RUN = {  # module and function of each action
    "record": "record.run",
    "list": "crops.run",
    "forget": "crops.run",
    "repair": "crops.run",
    "train": "versions.train_version",
    "shadow": "shadow.run",
    "promote": "versions.change_version",
    "rollback": "versions.change_version",
    "versions": "crops.run",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add one sub-command for each action."""
    add_example(parser, "edged teach record configs/teach.yaml --camera ring --label ring --count 40")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        add_config(action)
        _OPTIONS[name](action)
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Import the module of the action, and run it."""
    multiply_in_one_thread()
    module, _, function = RUN[arguments.action].partition(".")
    return int(getattr(importlib.import_module(f"edged.cli.teach.{module}"), function)(arguments))


def _add_record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--camera", required=True, metavar="NAME", help="camera to record")
    parser.add_argument("--label", required=True, metavar="LABEL", help="label of the crops")
    parser.add_argument("--count", type=positive, metavar="N", help="exit after N new crops")
    _add_longest(parser)
    least = f"shortest time between two crops (default: 0.2s; at least {1 / MOST_A_SECOND:.2f}s)"
    add_every(parser, least)
    crops = "keep the newest N crops of each label, from now on (default: 1000)"
    parser.add_argument("--crops", type=positive, metavar="N", help=crops)
    megabytes = "keep at most N megabytes of crops in all, from now on (default: 512)"
    parser.add_argument("--megabytes", type=above_zero("megabytes"), metavar="N", help=megabytes)
    add_example(parser, "edged teach record edged.yaml --camera door --label open --count 100")


def _add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sheet", type=Path, metavar="FILE.png", help="also draw all crops as a contact sheet")
    add_example(parser, "edged teach list edged.yaml --sheet crops.png")


def _add_forget(parser: argparse.ArgumentParser) -> None:
    what = "label to remove, or LABEL/ and the first digits of a crop's file name"
    parser.add_argument("label", metavar="LABEL[/CROP]", help=what)
    add_example(parser, "edged teach forget edged.yaml open", "edged teach forget edged.yaml open/3fa2")


def _add_repair(parser: argparse.ArgumentParser) -> None:
    add_example(parser, "edged teach repair edged.yaml")


def _add_train(parser: argparse.ArgumentParser) -> None:
    hidden = "size of the head's hidden layer (default: 64)"
    parser.add_argument("--hidden", type=positive, metavar="N", help=hidden)
    parser.add_argument("--steps", type=positive, metavar="N", help="training steps (default: 600)")
    seed = "seed of the random numbers; the same seed gives the same version (default: 1)"
    parser.add_argument("--seed", type=int, metavar="N", help=seed)
    device = "device to train on, as in the config (default: the first worker's device that is free)"
    parser.add_argument("--device", metavar="NAME", help=device)
    add_example(parser, "edged teach train edged.yaml")


def _add_shadow(parser: argparse.ArgumentParser) -> None:
    _add_version(parser)
    parser.add_argument("--camera", metavar="NAME", help="only this camera (default: all)")
    _add_longest(parser)
    add_example(parser, "edged teach shadow edged.yaml --duration 1m")


def _add_promote(parser: argparse.ArgumentParser) -> None:
    _add_version(parser)
    force = "promote it even if it is worse than the active version"
    parser.add_argument("--force", action="store_true", help=force)
    add_example(parser, "edged teach promote edged.yaml", "edged teach promote edged.yaml 3fa2c1 --force")


def _add_rollback(parser: argparse.ArgumentParser) -> None:
    add_example(parser, "edged teach rollback edged.yaml")


def _add_versions(parser: argparse.ArgumentParser) -> None:
    add_example(parser, "edged teach versions edged.yaml")


def _add_longest(parser: argparse.ArgumentParser) -> None:
    add_duration(parser, "exit after this time", type=duration(LONGEST_TEACH_S))


def _add_version(parser: argparse.ArgumentParser) -> None:
    which = "the first digits of its hash, as `edged teach versions` lists them (default: the newest)"
    parser.add_argument("version", nargs="?", metavar="VERSION", help=which)


_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "record": _add_record,
    "list": _add_list,
    "forget": _add_forget,
    "repair": _add_repair,
    "train": _add_train,
    "shadow": _add_shadow,
    "promote": _add_promote,
    "rollback": _add_rollback,
    "versions": _add_versions,
}
