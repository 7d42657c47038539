"""Cut small pictures out of the photos and videos of the test data: `python -m bench.crops FOLDER`.

They judge networks for small pictures that are compressed without labels (docs/how-to/compressing.md).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
SIDE = 64
OF_A_PHOTO = 40
OF_VIDEOS = {"bottle-detection.mp4": 200, "yes.mkv": 100}

Picture = NDArray[np.uint8]


def crops(seed: int) -> Iterator[tuple[str, Picture]]:
    """Names and squares of 64 × 64: of 0.3 to 1 of the shorter side, at random places."""
    random = np.random.default_rng(seed)
    for path in sorted((DATA / "photos").glob("*.[jp][pn]g")):
        for number in range(OF_A_PHOTO):
            yield f"{path.stem}-{number}", crop(np.asarray(cv2.imread(str(path)), np.uint8), random)
    for name, count in OF_VIDEOS.items():
        frames = list(frames_of(DATA / "videos" / name))
        for number in range(count):
            yield f"{Path(name).stem}-{number}", crop(frames[number * len(frames) // count], random)


def frames_of(path: Path) -> Iterator[Picture]:
    """The frames of a video."""
    video = cv2.VideoCapture(str(path))
    while (read := video.read())[0]:
        yield np.asarray(read[1], np.uint8)


def crop(picture: Picture, random: np.random.Generator) -> Picture:
    """A square of the picture, resized."""
    height, width = picture.shape[:2]
    side = int(min(height, width) * random.uniform(0.3, 1))
    top, left = random.integers(0, height - side + 1), random.integers(0, width - side + 1)
    square = picture[top : top + side, left : left + side]
    return np.asarray(cv2.resize(square, (SIDE, SIDE), interpolation=cv2.INTER_AREA), np.uint8)


def main() -> None:
    """Write the crops as PNG."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, picture in crops(arguments.seed):
        cv2.imwrite(str(arguments.folder / f"{name}.png"), picture)


if __name__ == "__main__":
    main()
