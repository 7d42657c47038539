"""Command-line options of commands that make a network smaller, and pictures that judge what it loses."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from edged.cli.model_options import add_input_options, given_model, show_preparation
from edged.cli.options import above_zero, add_json, positive
from edged.errors import ConfigError
from edged.model.package import Model

if TYPE_CHECKING:
    from edged.compress.judge import JudgedPictures

COUNT = 2000


def add_judged_options(parser: argparse.ArgumentParser, max_loss: str) -> "argparse._MutuallyExclusiveGroup":
    """Add the model, the pictures, the limit of accuracy that may be lost, and the device.

    max_loss: what `--max-loss` means. Return the group of sources of pictures, of which one is required.
    """
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model with trained weights")
    pictures = parser.add_mutually_exclusive_group(required=True)
    data = "labelled pictures that judge the result, as of `edged eval`"
    pictures.add_argument("--data", type=Path, metavar="FOLDER", help=data)
    images = "a folder of pictures without labels: the result should give the same first class as the original"
    pictures.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    count = f"judge by at most N pictures, evenly spaced (default: {COUNT})"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    limit = f"{max_loss}, in percentage points (default: 0.5)"
    parser.add_argument("--max-loss", type=above_zero("points", 100), default=0.5, metavar="POINTS", help=limit)
    parser.add_argument("--device", default="auto", metavar="NAME", help="as in the config (default: auto)")
    add_input_options(parser, "input of the model, if its file does not describe it")
    add_json(parser)
    return pictures


def trained_model(arguments: argparse.Namespace) -> Model:
    """Load the model and show how its input is prepared. Raises ModelError, and ConfigError for random weights."""
    model = given_model(arguments)
    if model.random_weights:
        raise ConfigError(f"{model.name} has random weights: it has no accuracy to keep; give an ONNX file")
    show_preparation(model)
    return model


def judged_pictures(model: Model, arguments: argparse.Namespace) -> "JudgedPictures":
    """Load the pictures of --data or --images. Raises ConfigError, DataError, ImageError."""
    from edged.compress.judge import labelled, unlabelled

    count = arguments.count or COUNT
    if arguments.data:
        return labelled(arguments.data, model, count)
    return unlabelled(arguments.images, model, count)
