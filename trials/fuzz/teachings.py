"""Stores of crops, as a bad disk may leave them: damaged manifests, crops, features and versions.

Whatever is there, the store opens; it gives the very pixels that were recorded, or names the file. Nothing that is
whole is lost.
"""

import json
import logging
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from edged.errors import ModelError, NewerStateError
from edged.model.head_versions import load_head, load_promoted, load_version
from edged.system import exclusive_lock
from edged.teach.fit import check
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop, Pixels, pixels_sha256
from trials.fuzz.damage import changed, damaged
from trials.fuzz.trial import Case

VERSION = "a" * 64


@contextmanager
def prepared() -> Iterator[Case]:
    """The case, and a folder for its store."""
    logging.getLogger("edged").addHandler(logging.NullHandler())
    # in memory where that can be, since each file is synced
    in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
    with tempfile.TemporaryDirectory(prefix="edged-fuzz-", dir=in_memory) as folder:
        lock = Path(folder) / "lock"  # of no other process
        exclusive_lock.state_directory = lambda: lock  # type: ignore[attr-defined]
        yield TeachCase(Path(folder) / "test/teach")


class TeachCase:
    """A store of six crops in `folder`, and the file of a version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        store = CropStore.open(folder)
        rng = np.random.default_rng(0)
        for number in range(6):
            store.add(rng.integers(0, 256, (8, 8, 3), np.uint8), "ab"[number % 2], "door", float(number))
        store.save()
        self._crops = {crop.sha256: store.pixels(crop) for crop in store.crops}
        self._manifest = json.loads((folder / "manifest.json").read_text())
        version = {"schema": 1, "sha256": VERSION, "name": "v", "labels": ["a", "b"], "features": 2, "hidden": 1}
        self._version = version | {"base": {"name": "m", "sha256": VERSION}, "head_sha256": VERSION}
        (folder / "versions").mkdir()
        self._files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def __call__(self, chance: random.Random) -> str:
        self._restore()
        self._harm(chance)
        try:
            store = CropStore.open(self._folder)
        except NewerStateError:  # a number was changed
            return "manifest refused"
        whole = {crop.sha256 for crop in store.crops if self._is_whole(store, crop)}
        named = {problem.path.stem for problem in store.problems}
        assert whole | named | {path.stem for path in store.gone} | self._harmed >= set(self._crops)
        assert whole >= set(self._crops) - self._harmed
        self._read_version()
        return self._end(store)

    def _restore(self) -> None:
        for path in self._folder.rglob("*"):
            if path.is_file() and path not in self._files:
                path.unlink()
        for path, content in self._files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def _harm(self, chance: random.Random) -> None:
        self._harmed: set[str] = set()
        manifest = json.dumps(changed(self._manifest, chance)).encode()
        path = self._folder / "manifest.json"
        path.write_bytes(damaged(manifest, chance) if chance.random() < 0.3 else manifest)
        for kind, value in (("json", self._version), ("head", VERSION)):
            text = json.dumps(changed(value, chance) if chance.random() < 0.7 else value).encode()
            (self._folder / f"versions/{VERSION}.{kind}").write_bytes(text)
        (self._folder / "promoted.json").write_bytes(damaged(b'{"schema":1,"version":null}', chance))
        for crop in [path for path in self._files if path.suffix == ".png"]:
            if chance.random() < 0.2:
                crop.write_bytes(damaged(crop.read_bytes(), chance))
                self._harmed.add(crop.stem)

    def _is_whole(self, store: CropStore, crop: Crop) -> bool:
        """What is read are the very pixels. Raises what is no error that names the file."""
        try:
            pixels: Pixels = store.pixels(crop)
        except (ModelError, NewerStateError) as error:
            if crop.sha256 not in str(error):
                raise
            return False
        assert pixels_sha256(pixels) == crop.sha256
        return True

    def _read_version(self) -> None:
        for read in (lambda: load_promoted(self._folder), self._load_version):
            try:
                read()
            except (ModelError, NewerStateError) as error:
                if str(self._folder) not in str(error):
                    raise

    def _load_version(self) -> None:
        load_head(self._folder, load_version(self._folder, VERSION))

    def _end(self, store: CropStore) -> str:
        manifest = "made again" if store.damage else "read"
        try:
            check(store)
        except (ModelError, NewerStateError):
            return f"manifest {manifest}, crops refused"
        return f"manifest {manifest}"
