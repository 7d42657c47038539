"""Labelled pictures in files."""

import gzip
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray


def picture(path: Path, seed: int = 0, size: tuple[int, int] = (16, 16)) -> Path:
    """A PNG of coloured noise, of this width and height."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = size
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    assert cv2.imwrite(str(path), pixels)
    return path


def idx_files(folder: Path, images: NDArray[np.uint8], classes: list[int], part: str = "t10k") -> Path:
    """The two files of a part of a data set like MNIST; the folder."""
    folder.mkdir(exist_ok=True)
    labels = np.array(classes, np.uint8)
    for name, array in ((f"{part}-images-idx3-ubyte", images), (f"{part}-labels-idx1-ubyte", labels)):
        head = bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes()
        (folder / f"{name}.gz").write_bytes(gzip.compress(head + array.tobytes()))
    return folder
