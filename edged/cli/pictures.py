"""The input of measurements: random images for time, the user's pictures for errors."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.errors import ConfigError
from edged.model.package import Input

MOST = 200  # pictures of a folder, evenly spaced: the NumPy reference is slow


def random_images(wanted: Input, frames: int) -> NDArray[np.uint8]:
    """Return noise, uint8 RGB [frames, height, width, 3]; the same on each call."""
    return np.random.default_rng(0).integers(0, 256, (frames, wanted.height, wanted.width, 3), np.uint8)


def pictures_of(folder: Path, wanted: Input, most: int = MOST) -> NDArray[np.uint8]:
    """Read the pictures of a folder, prepared as a camera does: uint8 RGB [n, height, width, 3], n ≤ `most`.

    Raises ConfigError for a folder without pictures, ImageError for a picture that cannot be read.
    """
    from edged.camera.preprocess import preprocess
    from edged.camera.sources.decode import read_picture

    pictures = map(read_picture, chosen_of(folder, most))
    size = wanted.width, wanted.height
    return np.stack([preprocess(picture, *size, resize=wanted.resize) for picture in pictures])


def chosen_of(folder: Path, most: int = MOST) -> list[Path]:
    """List the files that `pictures_of` reads. Raises ConfigError for a folder without pictures."""
    from edged.camera.sources.folder import SUFFIXES, pictures_in

    files = pictures_in(folder)
    if not files:
        raise ConfigError(f"--images {folder}: expected a folder with pictures: {', '.join(sorted(SUFFIXES))}")
    return files[:: ceil_div(len(files), most)]
