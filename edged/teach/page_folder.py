"""The crops and versions of a node for the teaching page, read and changed within the process of the view.

The store is locked only while it is changed, so that `edged teach` can be run beside the page.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

from edged.errors import EdgedError
from edged.messages.preparation import Resize
from edged.pictures.prepare import fitted
from edged.teach.listing import store_as_object, versions_as_object
from edged.teach.store import CropStore
from edged.teach.store_crop import LABEL, Pixels, label_of
from edged.teach.store_files import NAME, StoreError

SHOWN = 200  # crops of a label, the newest


class Taking(NamedTuple):
    """Width and height of the model's input, and how a picture takes its shape."""

    width: int
    height: int
    resize: Resize


class PageFolder:
    """A teach folder. `taking`: reads what the model takes, when the first picture is labelled."""

    def __init__(self, folder: Path, taking: Callable[[], Taking]) -> None:
        self._folder = folder
        self._taking = taking
        self._lock = threading.Lock()

    def state(self) -> dict[str, Any]:
        """Return labels with the newest crops of each, the limits and the versions. `problem`: what is damaged."""
        found: dict[str, Any] = {"labels": [], "limits": None, "versions": [], "promoted": None, "problem": ""}
        try:
            store = CropStore.read(self._folder)
            found |= store_as_object(store)
            for each in found["labels"]:
                ours = [crop for crop in store.crops if crop.label == each["label"]]
                each["newest"] = [
                    {"sha256": crop.sha256, "held_back": crop.held_back, "at": crop.recorded_at}
                    for crop in reversed(ours[-SHOWN:])
                ]
            found |= versions_as_object(self._folder)
        except EdgedError as error:
            found["problem"] = str(error)
        return found

    def png(self, label: str, sha256: str) -> bytes | None:
        """Return the file of a crop; None if there is none."""
        if not LABEL.fullmatch(label) or not NAME.fullmatch(f"{sha256}.png"):
            return None
        try:
            return (self._folder / "crops" / label / f"{sha256}.png").read_bytes()
        except OSError:
            return None

    def add(self, pictures: Sequence[tuple[bytes, str, float]], label: str) -> dict[str, Any]:
        """Store pictures as crops of a label: each a JPEG, its camera, and when it was captured.

        Returns how many were new, and how many were stored before. Raises EdgedError.
        """
        label = label_of(label)
        taking = self._taking()
        new = 0
        with self._opened() as store:
            for jpeg, camera, at in pictures:
                pixels = fitted(_decoded(jpeg), taking.width, taking.height, taking.resize)
                new += store.add(pixels, label, camera, at) is not None
            store.save()
        return {"label": label, "new": new, "stored_before": len(pictures) - new}

    def remove(self, crops: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Delete crops, each a label and a hash; those that are gone already are no error. Raises EdgedError."""
        with self._opened() as store:
            removed = store.remove(crops)
        return {"removed": len(removed)}

    def forget(self, label: str) -> dict[str, Any]:
        """Delete all crops of a label. Raises EdgedError, also if there is none."""
        label = label_of(label)  # not a single crop, LABEL/HASH
        with self._opened() as store:
            removed = store.forget(label)
        return {"removed": len(removed)}

    @contextmanager
    def _opened(self) -> Iterator[CropStore]:
        with self._lock:
            try:
                yield CropStore.open(self._folder)
            finally:
                CropStore.release(self._folder)


def _decoded(jpeg: bytes) -> Pixels:
    decoded: Any = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if decoded is None:
        raise StoreError("a snapshot cannot be decoded")
    return np.ascontiguousarray(decoded[..., ::-1])
