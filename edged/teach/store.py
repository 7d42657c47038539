"""The crops recorded on a node, by label and within limits. One process at a time writes, any number read."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from edged.errors import ConfigError
from edged.system import exclusive_lock
from edged.system.files import writing
from edged.teach.store_crop import Crop, Pixels, label_of, pixels_sha256, to_png
from edged.teach.store_files import (
    LEAST_CROPS,
    CropProblem,
    Found,
    StoreError,
    StoreLimits,
    adopted,
    crops_in,
    path_of,
    read_manifest,
    read_pixels,
    save,
    set_aside,
    surplus,
    sweep,
    write_manifest,
)

Key = tuple[str, str]  # label, hash


class CropStore:
    """The crops of one folder.

    `problems`: files that are not crops. `damage`: of the manifest. `gone`: crops of the manifest without files.
    """

    def __init__(
        self, folder: Path, limits: StoreLimits, crops: Iterable[Crop], problems: Iterable[CropProblem]
    ) -> None:
        self.folder = folder
        self.limits = limits
        self.problems = tuple(problems)
        self.damage = ""
        self.gone: tuple[Path, ...] = ()
        self.is_stale = False
        self._crops = {(crop.label, crop.sha256): crop for crop in sorted(crops, key=lambda c: c.recorded_at)}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the store; another process may be writing. Raises StoreError for an unreadable folder."""
        damage, manifest = "", None
        try:
            manifest = read_manifest(folder)
        except StoreError as error:
            damage = f"{error}; it is rebuilt from the crops"
        known = {(crop.label, crop.sha256): crop for crop in manifest.crops} if manifest else {}
        store = cls(folder, manifest.limits if manifest else StoreLimits(), *_there(folder, known))
        store.damage, store.is_stale = damage, bool(damage) or store._crops != known
        there = {problem.path for problem in store.problems}
        gone = (store.path(crop) for key, crop in known.items() if key not in store._crops)
        store.gone = tuple(path for path in gone if path not in there)
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the store for changes by this process alone. Raises DeviceError that names another process with it.

        A damaged manifest is moved away and rebuilt.
        """
        exclusive_lock.hold(_lock_of(folder), within_s=0)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            sweep(folder)
        except OSError as error:
            raise StoreError(f"{folder} cannot be used: {error.strerror}") from None
        store = cls.read(folder)
        if store.damage:
            path_of(folder).replace(folder / "manifest.damaged.json")
        if store.is_stale:
            store.save()
        return store

    @staticmethod
    def release(folder: Path) -> None:
        """Let other processes change the store, which this one has opened."""
        exclusive_lock.release(_lock_of(folder))

    @property
    def crops(self) -> tuple[Crop, ...]:
        """Return all crops, oldest first."""
        return tuple(self._crops.values())

    def __contains__(self, key: Key) -> bool:
        return key in self._crops

    def labels_of(self, sha256: str) -> tuple[str, ...]:
        """Return the labels under which these pixels are stored."""
        return tuple(label for label, ours in self._crops if ours == sha256)

    def path(self, crop: Crop) -> Path:
        return self.folder / "crops" / crop.file

    def pixels(self, crop: Crop) -> Pixels:
        """Return uint8 [height, width, 3] RGB. Raises StoreError if the pixels differ from the recorded ones."""
        pixels = read_pixels(self.path(crop))
        if isinstance(pixels, CropProblem):
            raise StoreError(str(pixels))
        return pixels

    def add(self, pixels: Pixels, label: str, camera: str, at: float) -> Crop | None:
        """Store a crop on disk; return None if it is already there. Raises StoreError.

        The manifest has it after `save`, or when the store is next opened.
        """
        sha256 = pixels_sha256(pixels)
        if (label, sha256) in self._crops:
            return None
        height, width, _ = pixels.shape
        content = to_png(pixels)
        crop = Crop(
            sha256=sha256,
            label=label,
            camera=camera,
            recorded_at=at,
            width=width,
            height=height,
            nbytes=len(content),
        )
        save(self.path(crop), content)
        self._crops[label, sha256] = crop
        self._make_room()
        return crop

    def save(self) -> None:
        """Write the manifest. Raises StoreError."""
        write_manifest(self.folder, self.limits, self.crops)

    def limit(self, crops: int | None, megabytes: float | None) -> None:
        """Set the limits from now on; None: unchanged. Raises StoreError or ConfigError."""
        if crops is not None and crops < LEAST_CROPS:
            raise ConfigError(
                f"--crops {crops}: a label needs {LEAST_CROPS} at least, for training and evaluation"
            )
        changes = {"crops": crops, "megabytes": megabytes}
        self.limits = self.limits.model_copy(update={name: n for name, n in changes.items() if n is not None})
        self._make_room()
        self.save()

    def forget(self, which: str) -> list[Crop]:
        """Remove the crops of a label, or those whose files are called LABEL/BEGINNING…. Raises ConfigError."""
        name, slash, begins = which.partition("/")
        label = label_of(name)
        ours = [crop for crop in self.crops if crop.label == label and crop.sha256.startswith(begins)]
        if not ours:
            there = ", ".join(sorted({crop.label for crop in self.crops})) or "none"
            what = f"crop {which}" if slash else f"label {which}"
            raise ConfigError(f"there is no {what}; there are the labels: {there}")
        return self.remove((crop.label, crop.sha256) for crop in ours)

    def remove(self, keys: Iterable[Key]) -> list[Crop]:
        """Remove crops by label and hash; return those that were there. Raises StoreError."""
        ours = [self._crops[key] for key in dict.fromkeys(keys) if key in self._crops]
        for crop in ours:
            self._remove(crop)
        self.save()
        return ours

    def repair(self) -> list[Path]:
        """Read every crop, and move the damaged ones away; return their new paths."""
        damaged = list(self.problems)
        for crop in self.crops:
            pixels = read_pixels(self.path(crop))
            if isinstance(pixels, CropProblem):
                damaged.append(pixels)
                del self._crops[crop.label, crop.sha256]
        with writing(self.folder / "damaged", StoreError):
            moved = [set_aside(problem.path, self.folder) for problem in damaged if problem.path.exists()]
        self.problems = ()
        self.save()
        return moved

    def _make_room(self) -> None:
        for crop in surplus(self.crops, self.limits):
            self._remove(crop)

    def _remove(self, crop: Crop) -> None:
        try:
            self.path(crop).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path(crop)} cannot be removed: {error.strerror}") from None
        with suppress(OSError):
            self.path(crop).parent.rmdir()  # the label's last one
        del self._crops[crop.label, crop.sha256]


def _lock_of(folder: Path) -> str:
    return f"teach-{folder.parent.name}"


def _there(folder: Path, known: Mapping[Key, Crop]) -> tuple[list[Crop], list[CropProblem]]:
    """Return the crops whose files exist, and other files."""
    crops: list[Crop] = []
    problems: list[CropProblem] = []
    for found in crops_in(folder):
        crop = _crop_of(found, known) if isinstance(found, Found) else found
        if isinstance(crop, Crop):
            crops.append(crop)
        else:
            problems.append(crop)
    return crops, problems


def _crop_of(found: Found, known: Mapping[Key, Crop]) -> Crop | CropProblem:
    crop = known.get((found.label, found.sha256))
    return crop if crop and crop.nbytes == found.nbytes else adopted(found)
