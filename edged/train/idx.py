"""Read IDX files, plain or .gz: MNIST's pictures and labels, and those of data sets in the same format.

Format (LeCun, http://yann.lecun.com/exdb/mnist/): two zero bytes, the type (8: unsigned bytes), the number of
axes, their lengths as big-endian 32-bit numbers, then the values in C order.
"""

import gzip
import math
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from edged.errors import DataError
from edged.model.package import Input
from edged.system.files import open_regular_file
from edged.system.plain_text import counted
from edged.train.source import LabelledImages

IMAGES, LABELS = "images-idx3-ubyte", "labels-idx1-ubyte"
MAX_BYTES = 2**33

Bytes = NDArray[np.uint8]


def has_idx(folder: Path) -> bool:
    """Return whether the folder has training pictures in IDX files."""
    return any((folder / f"train-{IMAGES}{suffix}").exists() for suffix in ("", ".gz"))


def read_idx(
    folder: Path, names: tuple[str, ...] | None, model_input: Input
) -> tuple[LabelledImages, LabelledImages | None, tuple[str, ...]]:
    """Read the training pictures, those of the test (t10k-…) if there are any, and labels.

    names: labels by class; None: 0, 1, … up to the highest with pictures. Raises DataError, which names the file
    and the place.
    """
    training = _part(folder, "train", model_input)
    labels = names or _numbered(training, _file(folder, f"train-{LABELS}"))
    has_test = any((folder / f"t10k-{IMAGES}{suffix}").exists() for suffix in ("", ".gz"))
    test = _part(folder, "t10k", model_input) if has_test else None
    for part, examples in (("train", training), ("t10k", test)):
        if examples:
            _check_labels(examples, len(labels), _file(folder, f"{part}-{LABELS}"))
    return training, test, labels


def _part(folder: Path, part: str, model_input: Input) -> LabelledImages:
    paths = [_file(folder, f"{part}-{kind}") for kind in (IMAGES, LABELS)]
    images, labels = read_array(paths[0], axes=3), read_array(paths[1], axes=1)
    if len(images) != len(labels):
        found = f"{counted(len(labels), 'label')} for the {counted(len(images), 'picture')}"
        raise DataError(f"{paths[1]}: has {found} of {paths[0].name}")
    if not len(images):
        raise DataError(f"{paths[0]}: holds no pictures")
    if images.shape[1:] != (model_input.height, model_input.width) or model_input.channels != 1:
        raise DataError(
            f"{paths[0]}: its pictures are gray, {images.shape[2]}×{images.shape[1]}; the network wants "
            f"{model_input.color}, {model_input.width}×{model_input.height}: change its input"
        )
    return LabelledImages(images[..., np.newaxis], labels.astype(np.int32))


def _numbered(examples: LabelledImages, path: Path) -> tuple[str, ...]:
    counts = np.bincount(examples.labels)
    if missing := np.flatnonzero(counts == 0).tolist():
        raise DataError(
            f"{path}: there are labels up to {len(counts) - 1} but none is {missing[0]}: "
            "is it damaged? if not, give labels: in the config"
        )
    return tuple(str(label) for label in range(len(counts)))


def _check_labels(examples: LabelledImages, classes: int, path: Path) -> None:
    beyond = np.flatnonzero(examples.labels >= classes)
    if len(beyond):
        first = int(beyond[0])
        raise DataError(
            f"{path}: label {first} (byte {8 + first}) is {examples.labels[first]}, "
            f"but there are {classes} labels, from 0 to {classes - 1}"
        )


def read_array(path: Path, axes: int) -> Bytes:
    """Return the values of a file with so many axes. Raises DataError with the place of the mistake."""
    try:
        with open_regular_file(path) as plain:
            if path.suffix != ".gz":
                return _parsed(plain, path, axes)
            with gzip.open(plain) as unpacked:
                return _parsed(unpacked, path, axes)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path}: is no .gz file, or damaged or cut short: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def _parsed(file: BinaryIO | gzip.GzipFile, path: Path, axes: int) -> Bytes:
    magic, lengths = file.read(4), file.read(4 * axes)
    if magic != bytes((0, 0, 8, axes)):
        raise DataError(
            f"{path}: begins with the bytes {magic.hex(' ') or '(none)'}; an IDX file of unsigned bytes with "
            f"{axes} axes begins with 00 00 08 {axes:02x}"
        )
    if len(lengths) != 4 * axes:
        raise DataError(f"{path}: is cut short: it ends within its header of {4 + 4 * axes} bytes")
    shape = [int(length) for length in np.frombuffer(lengths, ">u4")]
    size, words = math.prod(shape), " × ".join(map(str, shape))
    if size > MAX_BYTES:
        raise DataError(f"{path}: claims to hold {words} values; at most {MAX_BYTES} are read")
    content = file.read(size + 1)
    if len(content) != size:
        found = f"{len(content)} bytes follow" if len(content) < size else "more follows"
        cut = (
            "it is cut short" if len(content) < size else "what is behind them is not read: is it the right file?"
        )
        raise DataError(f"{path}: claims to hold {words} = {size} values, but {found}: {cut}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _file(folder: Path, name: str) -> Path:
    """Find a file. Raises DataError if there is none."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    raise DataError(f"{folder}: has no {name}, plain or as .gz: expected the IDX files of a data set like MNIST")
