"""Count the pictures of known labels that a plan classifies correctly."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.cli.pictures import MOST, chosen_of, pictures_of
from edged.model.package import Model
from edged.runtime.base import ModelRuntime

SCENE = (320, 240)

Images = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Known:
    """Pictures with known labels. `images`: uint8 RGB [n, height, width, 3]; `source`: where they are from."""

    images: Images
    truths: Sequence[str]
    source: str


@dataclass(frozen=True)
class Accuracy:
    """How many pictures were classified correctly."""

    right: int
    frames: int
    source: str


def known_pictures(model: Model, folder: Path | None) -> Known | None:
    """Find pictures with known labels: those in sub-folders of `folder` that are named like labels.

    Without a folder: digits of the synthetic camera. Returns None if no label is known, or the model reads no
    digits or is not trained. Raises ConfigError for a folder without pictures, ImageError.
    """
    if model.random_weights:
        return None
    return _in_folder(model, folder) if folder else _digits(model)


def accuracy_of(runtime: ModelRuntime, known: Known, model: Model, batch: int) -> Accuracy:
    """Classify every picture, and count the correct ones. Raises DeviceError."""
    parts = [known.images[start : start + batch] for start in range(0, len(known.images), batch)]
    best = np.concatenate([runtime.submit(part).wait().outputs.argmax(axis=1) for part in parts])
    right = sum(model.labels[index] == truth for index, truth in zip(best, known.truths, strict=True))
    return Accuracy(right, len(known.truths), known.source)


def _in_folder(model: Model, folder: Path) -> Known | None:
    from edged.pictures.folders import truth_of

    truths = [truth_of(file, folder) for file in chosen_of(folder)]
    labelled = [index for index, truth in enumerate(truths) if truth in model.labels]
    if not labelled:
        return None
    images = pictures_of(folder, model.input)[labelled]
    return Known(images, [truths[index] or "" for index in labelled], f"pictures of {folder}")


def _digits(model: Model) -> Known | None:
    from edged.camera.sources.synthetic import draw_pictures
    from edged.pictures.prepare import prepare

    pictures = list(islice(draw_pictures(0, *SCENE, fps=1), MOST))  # each from another scene
    truths = [picture.truth or "" for picture in pictures]
    if not set(truths) <= set(model.labels):
        return None
    images = np.stack([prepare(picture.pixels, model.input) for picture in pictures])
    return Known(images, truths, "synthetic digits")
