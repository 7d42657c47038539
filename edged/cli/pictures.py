"""Pictures for measurements: random ones, those of a folder, and those that judge a smaller network."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.cli.model_options import add_input_options, given_model, show_preparation
from edged.cli.options import add_json, points, positive
from edged.errors import ConfigError
from edged.model.package import Input, Model

if TYPE_CHECKING:
    from edged.compress.judge import JudgedPictures

MOST = 200  # pictures of a folder, evenly spaced: the NumPy reference is slow
COUNT = 2000
LOSS = 0.5  # percentage points


def random_images(model_input: Input, frames: int) -> NDArray[np.uint8]:
    """Return noise, uint8 RGB [frames, height, width, 3]; the same on each call."""
    return np.random.default_rng(0).integers(0, 256, (frames, model_input.height, model_input.width, 3), np.uint8)


def pictures_of(folder: Path, model_input: Input, most: int = MOST) -> NDArray[np.uint8]:
    """Read the pictures of a folder, prepared as a camera does: uint8 RGB [n, height, width, 3], n ≤ `most`.

    Raises ConfigError for a folder without pictures, ImageError for a picture that cannot be read.
    """
    from edged.pictures.decode import read_picture
    from edged.pictures.prepare import prepare

    pictures = map(read_picture, chosen_of(folder, most))
    return np.stack([prepare(picture, model_input) for picture in pictures])


def chosen_of(folder: Path, most: int = MOST) -> list[Path]:
    """List the files that `pictures_of` reads. Raises ConfigError for a folder without pictures."""
    from edged.pictures.folders import SUFFIXES, pictures_in

    files = pictures_in(folder)
    if not files:
        raise ConfigError(f"--images {folder}: expected a folder with pictures: {', '.join(sorted(SUFFIXES))}")
    return files[:: ceil_div(len(files), most)]


def add_judged_options(
    parser: argparse.ArgumentParser, max_loss: str, default: str = f"{LOSS:g}"
) -> "argparse._MutuallyExclusiveGroup":
    """Add the model, the pictures, the largest loss of accuracy, and the device.

    max_loss: what `--max-loss` means; `default`: its default, in words. Return the group of sources of pictures,
    of which one is required.
    """
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or a named model with trained weights")
    pictures = parser.add_mutually_exclusive_group(required=True)
    data = "labelled pictures to evaluate the result with, as for `edged eval`"
    pictures.add_argument("--data", type=Path, metavar="FOLDER", help=data)
    images = "a folder of unlabelled pictures: the share of answers equal to the original's counts as accuracy"
    pictures.add_argument("--images", type=Path, metavar="FOLDER", help=images)
    count = f"evaluate at most N pictures, evenly spaced (default: {COUNT})"
    parser.add_argument("--count", type=positive, metavar="N", help=count)
    limit = f"{max_loss}, in percentage points (default: {default})"
    parser.add_argument("--max-loss", type=points, default=LOSS, metavar="POINTS", help=limit)
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
