"""Checkpoints of a training: the two newest, each written atomically and verified when it is read.

A file is an .npz: the training's description as JSON, its arrays, and a SHA-256 of both. A
checkpoint of other data, settings or code is refused by its fingerprint.
"""

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from edged import __version__
from edged.errors import DataError, TrainingError
from edged.system.files import FOR_ALL, replace_file
from edged.system.process_end import uninterrupted
from edged.train.config import Training

KEPT = 2
# exceptions of np.load
DAMAGED = (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error)
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint. `facts`: JSON values; arrays by name."""

    path: Path
    facts: dict[str, Any]
    arrays: Arrays


class Checkpoints:
    """The checkpoints of one training, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, epoch: int, facts: Mapping[str, Any], arrays: Arrays) -> None:
        """Save the checkpoint of an epoch, and remove all but the last two. Raises TrainingError."""
        path = self._folder / f"epoch-{epoch:06}.npz"
        text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with uninterrupted(), replace_file(path, FOR_ALL) as file:
                _write(file, {**arrays, "facts": text, "checksum": _checksum(text, arrays)})
        except OSError as error:
            raise TrainingError(f"{path}: cannot be written: {error.strerror}; {self._what_is_left()}") from None
        for old in (*self._files()[KEPT:], *self._folder.glob(".epoch-*")):
            old.unlink(missing_ok=True)

    def clear(self) -> None:
        for path in self._files():
            path.unlink()

    def newest(self) -> tuple[Checkpoint | None, list[DataError]]:
        """Return the newest intact checkpoint, and what is wrong with newer ones. None: there is none at all.

        Raises DataError if all are damaged.
        """
        problems: list[DataError] = []
        for path in self._files():
            try:
                return _load(path), problems
            except DataError as error:
                problems.append(error)
        if problems:
            raise DataError(f"{problems[0]}; there is no other: start again without --resume in another folder")
        return None, []

    def _files(self) -> list[Path]:
        """Return the files, newest first."""
        return sorted(self._folder.glob("epoch-*.npz"), reverse=True)

    def _what_is_left(self) -> str:
        files = self._files()
        if not files:
            return "there is no earlier one: make room and start again"
        return f"{files[0].name} is kept: make room, then continue with --resume"


def _write(file: BinaryIO, arrays: Arrays) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _load(path: Path) -> Checkpoint:
    """Load a checkpoint. Raises DataError."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        text, checksum = arrays.pop("facts"), arrays.pop("checksum")
        is_whole = np.array_equal(checksum, _checksum(text, arrays))
        facts = json.loads(text.tobytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except DAMAGED:
        raise DataError(f"{path}: is damaged, or not a checkpoint") from None
    if not is_whole:
        raise DataError(f"{path}: is damaged: its checksum does not match")
    return Checkpoint(path, facts, arrays)


def _checksum(text: NDArray[np.uint8], arrays: Arrays) -> NDArray[np.uint8]:
    digest = sha256(text.tobytes())
    for name, array in sorted(arrays.items()):
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def facts_of(training: Training, fingerprint: str, start: str | None, device: str) -> dict[str, str]:
    """Return what a training depends on, by name.

    fingerprint: of the data; start: SHA-256 of the model that it starts from; device: its name.
    """
    values = training.model_dump(mode="json", exclude={"output", "data", "train"}, exclude_defaults=True)
    values["train"] = training.train.model_dump(mode="json", exclude_none=True)
    facts = {"data": fingerprint, "from": start or "random weights", "device": device, "edged": __version__}
    return {**_flat(values), **facts}


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Flatten {"train": {"rate": 0.1}} to {"train.rate": "0.1"}; lists as JSON."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[before + key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return flat
