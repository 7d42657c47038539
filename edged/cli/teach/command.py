"""`edged teach`: new labels for the network that runs, from this node's own cameras."""

import argparse
import importlib
import os
from pathlib import Path

from edged.cli.options import above_zero, positive, seconds
from edged.cli.run import DEMO
from edged.errors import ConfigError
from edged.messages.teaching import LONGEST_TEACH_S, MOST_A_SECOND

# What is done, the module that does it, and the options that belong to it.
ACTIONS = {
    "label": ("record", {"camera", "count", "seconds", "every", "crops", "megabytes"}),
    "list": ("crops", {"sheet"}),
    "versions": ("crops", set()),
    "forget": ("forget", set()),
    "repair": ("forget", set()),
    "train": ("train", {"hidden", "steps", "seed", "device"}),
    "shadow": ("shadow", {"camera", "seconds"}),
    "promote": ("promote", {"force"}),
    "rollback": ("promote", set()),
}
# The matrices of a head are small: at the lowest priority threads wait for each other longer than they compute.
NUMPY_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
LONGEST = above_zero("seconds", LONGEST_TEACH_S)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The config, one deed, and what belongs to it."""
    parser.add_argument(
        "config", type=Path, nargs="?", metavar="CONFIG", help=f"the YAML file (default: {DEMO}, where it is)"
    )
    deed = parser.add_argument_group("one of these").add_mutually_exclusive_group(required=True)
    deed.add_argument("--label", metavar="LABEL", help="record crops of --camera under it, until Ctrl-C")
    deed.add_argument("--list", action="store_true", help="show labels, with pictures where the terminal can")
    deed.add_argument("--train", action="store_true", help="train a head on all labels: a new version")
    deed.add_argument("--versions", action="store_true", help="show what was trained, and which version answers")
    for name, when in (("--shadow", "beside what runs"), ("--promote", "from now on")):
        which = f"let it (default: the newest) answer {when}"
        deed.add_argument(name, nargs="?", const="", metavar="VERSION", help=which)
    deed.add_argument("--rollback", action="store_true", help="let what answered before answer again")
    deed.add_argument(
        "--forget", metavar="LABEL[/CROP]", help="remove a label's crops, or that whose name begins so"
    )
    deed.add_argument("--repair", action="store_true", help="read every crop; set aside what is damaged")
    _add_recording(parser.add_argument_group("recording, and shadow"))
    training = parser.add_argument_group("training and promotion")
    training.add_argument("--hidden", type=positive, metavar="N", help="values between its layers (default: 64)")
    training.add_argument("--steps", type=positive, metavar="N", help="of training (default: 600)")
    training.add_argument("--seed", type=int, metavar="N", help="the same gives the same version (default: 1)")
    training.add_argument("--device", metavar="NAME", help="as in the config (default: one that is free)")
    training.add_argument("--force", action="store_true", help="promote a version that is worse, too")


def _add_recording(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--camera", metavar="NAME", help="whose frames")
    group.add_argument("--count", type=positive, metavar="N", help="end after so many new crops")
    group.add_argument("--seconds", type=LONGEST, metavar="S", help="end after so long")
    least = f"at least so long between crops (default: 0.2; least: {1 / MOST_A_SECOND:.2f})"
    group.add_argument("--every", type=seconds, metavar="S", help=least)
    group.add_argument(
        "--crops", type=positive, metavar="N", help="a label keeps so many, the newest (1000 at first)"
    )
    group.add_argument(
        "--megabytes",
        type=above_zero("megabytes"),
        metavar="N",
        help="all crops take so much at most (512 at first)",
    )
    group.add_argument("--sheet", type=Path, metavar="FILE.png", help="with --list: draw a contact sheet")


def run(arguments: argparse.Namespace) -> int:
    """Do it. Raises ConfigError for options that do not go together."""
    deed = next(name for name in ACTIONS if getattr(arguments, name) not in {None, False})
    module, options = ACTIONS[deed]
    others = set().union(*(each for _, each in ACTIONS.values())) - options
    if given := sorted(name for name in others if getattr(arguments, name) not in {None, False}):
        raise ConfigError(f"--{given[0]} does not belong to --{deed}: see `edged teach --help`")
    if deed == "label" and arguments.camera is None:
        raise ConfigError("--label needs --camera: of which camera are the crops to be?")
    for variable in NUMPY_THREADS:  # read when NumPy is loaded, which is now
        os.environ.setdefault(variable, "1")
    return int(importlib.import_module(f"edged.cli.teach.{module}").run(arguments))
