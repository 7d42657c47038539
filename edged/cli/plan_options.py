"""The command line's words for how a network is to run on a device."""

import argparse
from typing import get_args

from edged import config
from edged.cli.numbers import frames


def add_plan_options(
    parser: argparse.ArgumentParser, *, device: str = "as in the config", precision: str = "as in the config"
) -> None:
    """--device, --batch and --precision. `device`, `precision`: what their help says."""
    parser.add_argument("--device", default="auto", metavar="NAME", help=f"{device} (default: auto)")
    parser.add_argument("--batch", type=frames, default=1, metavar="N", help="frames of a job (default: 1)")
    precisions = get_args(config.Precision)
    parser.add_argument("--precision", choices=precisions, default="fp32", help=f"{precision} (default: fp32)")


def add_variants(parser: argparse.ArgumentParser, *, compare: str) -> None:
    """--conv and --compare. `compare`: what its help says."""
    variant = (
        "variant of the convolutions, such as vector, winograd, general, naive; auto (default): what is tuned"
    )
    parser.add_argument("--conv", default="auto", metavar="VARIANT", help=variant)
    parser.add_argument("--compare", metavar="VARIANT", help=compare)


def variants_of(arguments: argparse.Namespace) -> list[str]:
    """One or two, as `add_variants` has them."""
    return [arguments.conv, *([arguments.compare] if arguments.compare else [])]
