"""Labelled pictures: a folder with a sub-folder for each label, a text list, or IDX files; and their classes."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np

from edged.errors import DataError
from edged.model.package import numbered
from edged.pictures.decode import read_picture
from edged.pictures.folders import SUFFIXES, pictures_in, truth_of
from edged.pictures.prepare import Pixels
from edged.system.files import read_regular_file, reading
from edged.system.plain_text import counted
from edged.train.idx import IMAGES, LABELS, Bytes, has_idx, read_array

MOST_LIST_BYTES = 2**28
NO_LABEL = "-"
COLUMNS = frozenset({"file", "filename", "image", "path", "picture"})  # names of a table's first column

SYNSET = re.compile(r"n\d{8}\b")  # of WordNet, as ImageNet names its folders


class LabelledPicture(Protocol):
    """A picture with the classes that are right for it. `name`: for people."""

    @property
    def name(self) -> str: ...
    @property
    def classes(self) -> tuple[int, ...]: ...
    def pixels(self) -> Pixels:
        """Return it as uint8 [height, width, 3] RGB. Raises ImageError."""


@dataclass(frozen=True)
class PictureFile:
    """A picture in a file. `upright`: whether its EXIF turns it."""

    path: Path
    classes: tuple[int, ...]
    upright: bool = True

    @property
    def name(self) -> str:
        return str(self.path)

    def pixels(self) -> Pixels:
        """Read the file as cameras do."""
        return read_picture(self.path, upright=self.upright)


@dataclass(frozen=True, eq=False)
class IdxPicture:
    """A gray picture, uint8 [height, width], of an IDX file."""

    name: str
    gray: Bytes
    classes: tuple[int, ...]

    def pixels(self) -> Pixels:
        """Return its gray as red, green and blue: a gray network gets the same values back."""
        return np.repeat(self.gray[..., np.newaxis], 3, axis=2)


@dataclass(frozen=True, eq=False)
class LabelledPictures:
    """Pictures in a fixed order. `fingerprint`: changes with the files, their order and their classes."""

    pictures: Sequence[LabelledPicture]
    fingerprint: str

    def __len__(self) -> int:
        return len(self.pictures)

    def evenly_spaced(self, most: int) -> "LabelledPictures":
        """Return `most` of the pictures, evenly spaced, for a quick estimate; all if there are not more."""
        if len(self) <= most:
            return self
        chosen = [self.pictures[index * len(self) // most] for index in range(most)]
        return LabelledPictures(chosen, f"{self.fingerprint}/{most}")

    def without_exif(self) -> "LabelledPictures":
        """Return the same pictures as they are stored: no EXIF turns them."""
        stored = [
            replace(each, upright=False) if isinstance(each, PictureFile) else each for each in self.pictures
        ]
        return LabelledPictures(stored, f"{self.fingerprint}/stored")


def labelled_pictures(path: Path, labels: Sequence[str]) -> LabelledPictures:
    """Find the pictures of a folder, a list or an IDX file; `labels`: of the model, by class.

    Raises DataError, which names the file, the place and what was expected.
    """
    if path.is_dir():
        holds_idx = has_idx(path) or any(path.glob(f"t10k-{IMAGES}*"))
        return _from_idx(_idx_of(path), labels) if holds_idx else _from_folder(path, labels)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder; expected labelled pictures")
    return _from_idx(path, labels) if IMAGES in path.name else _from_list(path, labels)


def _idx_of(folder: Path) -> Path:
    """Return the file with the test pictures, or else with the training pictures."""
    return next(path for part in ("t10k", "train") for path in sorted(folder.glob(f"{part}-{IMAGES}*")))


def _from_idx(path: Path, labels: Sequence[str]) -> LabelledPictures:
    beside = path.with_name(path.name.replace(IMAGES, LABELS))
    images, classes = read_array(path, axes=3), read_array(beside, axes=1)
    if len(images) != len(classes):
        found = f"{counted(len(classes), 'label')} for the {counted(len(images), 'picture')}"
        raise DataError(f"{beside}: has {found} of {path.name}")
    if not len(images):
        raise DataError(f"{path}: holds no pictures")
    if classes.max() >= len(labels):
        raise DataError(
            f"{beside}: has the label {classes.max()}, but the model has {len(labels)} classes, from 0"
        )
    pictures = [
        IdxPicture(f"{path}:{number}", image, (int(right),))
        for number, (image, right) in enumerate(zip(images, classes, strict=True))
    ]
    return LabelledPictures(pictures, sha256(images.tobytes() + classes.tobytes()).hexdigest())


def _from_folder(folder: Path, labels: Sequence[str]) -> LabelledPictures:
    files = pictures_in(folder)
    if not files:
        raise DataError(f"{folder}: holds no pictures; expected a sub-folder of pictures for each label")
    truths = [truth_of(file, folder) for file in files]
    names = {truth: file for truth, file in zip(truths, files, strict=True) if truth}
    if None in truths:
        file = files[truths.index(None)]
        raise DataError(f"{file}: lies in no sub-folder, whose name would be its label (or give a list)")
    classes = _classes_of_folders(folder, sorted(names), labels)
    return _from_files(
        PictureFile(file, (classes[truth],)) for file, truth in zip(files, truths, strict=True) if truth
    )


def _classes_of_folders(folder: Path, names: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    """Map folders to classes. Without labels as many folders as classes are in their order, as usual."""
    if tuple(labels) == numbered(len(labels)) and not all(name.isdecimal() for name in names):
        if len(names) == len(labels):
            return {name: index for index, name in enumerate(names)}
        raise DataError(
            f"{folder}: its {len(names)} folders have names, but the model has no labels for its {len(labels)} "
            "classes: give --labels FILE, or name the folders by index"
        )
    known = ClassNames(labels)
    try:
        return {name: known.class_of(name) for name in names}
    except DataError as error:
        raise DataError(f"{folder}: folder {error}") from None


def _from_list(path: Path, labels: Sequence[str]) -> LabelledPictures:
    known = ClassNames(labels)
    files = []
    for number, name, names in _entries(path):
        if not name or not names:
            raise DataError(f"{path}:{number}: expected a picture and its label or class index")
        try:
            files.append(PictureFile(path.parent / name, known.classes_of(names)))
        except DataError as error:
            raise DataError(f"{path}:{number}: {error}") from None
    if not files:
        raise DataError(f"{path}: lists no pictures; expected a picture and its label on each line")
    return _from_files(files)


def _entries(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each line with its picture and label: of a CSV file, or divided by a tab or blanks.

    Raises DataError.
    """
    lines = _text(path).splitlines()
    rows = csv.reader(lines) if path.suffix.lower() == ".csv" else map(_divided, lines)
    for number, row in enumerate(rows, 1):
        is_head = number == 1 and row and row[0].strip().casefold() in COLUMNS
        if row and any(row) and not row[0].startswith("#") and not is_head:
            yield number, row[0].strip(), row[1].strip() if len(row) > 1 else ""


def _divided(line: str) -> list[str]:
    """Divide `photos/my cat.jpg 281` at its last blank, unless there is a tab, which labels of many words need."""
    return line.split("\t") if "\t" in line else line.strip().rsplit(maxsplit=1)


def _text(path: Path) -> str:
    """Return the text of a list. Names of files need not be UTF-8."""
    with reading(path, DataError):
        content = read_regular_file(path, MOST_LIST_BYTES)
    if b"\0" in content:
        expected = f"a folder, an IDX file or a text list of pictures ({', '.join(sorted(SUFFIXES))})"
        raise DataError(f"{path}: is not a text file; expected {expected}")
    return content.decode("utf-8-sig", "surrogateescape")


def _from_files(files: "Sequence[PictureFile] | Iterator[PictureFile]") -> LabelledPictures:
    pictures = list(files)
    digest = sha256()
    for each in pictures:
        digest.update(json.dumps([str(each.path.absolute()), each.classes, *_version(each.path)]).encode())
    return LabelledPictures(pictures, digest.hexdigest())


def _version(path: Path) -> tuple[int, ...]:
    """Return size and time of change; nothing for a file that is absent, which reading will report."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns


class ClassNames:
    """The names of a model's classes: its whole labels, then their parts between commas, and their synsets."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._count = len(labels)
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._parts: dict[str, list[int]] = defaultdict(list)
        for index, label in enumerate(labels):
            self._whole[_plain(label)].append(index)
            for part in {_plain(part) for part in [*label.split(","), *SYNSET.findall(label)]}:
                self._parts[part].append(index)

    def class_of(self, name: str) -> int:
        """Return the class that a label, a part of it, or an index names. Raises DataError."""
        name = name.strip()
        found = self._whole.get(_plain(name)) or self._parts.get(_plain(name)) or []
        if len(found) > 1:
            places = " and ".join(map(str, found))
            raise DataError(f"{name!r} is the label of the classes {places}: give the index instead")
        if found:
            return found[0]
        if name.isdecimal() and int(name) < self._count:
            return int(name)
        close = get_close_matches(_plain(name), self._whole, n=1)
        hint = f"; the closest label is {close[0]!r}" if close else ""
        raise DataError(f"{name!r} is neither a label of the model nor an index from 0 to {self._count - 1}{hint}")

    def classes_of(self, names: str) -> tuple[int, ...]:
        """Return the classes of several names: `281|282|285`; none for `-`. Raises DataError.

        Any of them is right; where scores are independent, all of them are there.
        """
        if names == NO_LABEL and _plain(NO_LABEL) not in self._whole:
            return ()
        return tuple(dict.fromkeys(map(self.class_of, names.split("|"))))


def _plain(name: str) -> str:
    return name.strip().casefold().replace("_", " ")
