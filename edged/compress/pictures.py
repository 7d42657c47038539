"""The pictures on which a compressed network is judged, prepared once."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np

from edged.camera.preprocess import preprocess
from edged.camera.sources.folder import SUFFIXES, pictures_in
from edged.camera.sources.picture_file import read_picture
from edged.camera.sources.source import Pixels
from edged.compress.judge import JudgedPictures
from edged.errors import DataError
from edged.evaluation.pictures import labelled_pictures
from edged.model.package import Input, Model


def labelled(path: Path, model: Model, most: int) -> JudgedPictures:
    """Read labelled pictures as `edged eval` does, `most` of them, evenly spaced. Raises DataError, ImageError."""
    found = labelled_pictures(path, model.labels).evenly_spaced(most)
    frames = [_prepared(picture.pixels(), model.input) for picture in found.pictures]
    return JudgedPictures(np.stack(frames), [picture.classes for picture in found.pictures], found.fingerprint)


def unlabelled(folder: Path, model: Model, most: int) -> JudgedPictures:
    """Read the pictures of a folder, `most` of them, evenly spaced; the original network's answers are right.

    Raises DataError for a folder without pictures, ImageError for a picture that cannot be read.
    """
    files = pictures_in(folder) if folder.is_dir() else []
    if not files:
        raise DataError(f"{folder}: holds no pictures; expected {', '.join(sorted(SUFFIXES))}")
    chosen = [files[place * len(files) // most] for place in range(most)] if len(files) > most else files
    frames = np.stack([_prepared(read_picture(file), model.input) for file in chosen])
    digest = sha256(json.dumps(frames.shape).encode() + frames.tobytes())
    return JudgedPictures(frames, None, digest.hexdigest())


def _prepared(pixels: Pixels, wanted: Input) -> Pixels:
    return preprocess(pixels, wanted.width, wanted.height, resize=wanted.resize)
