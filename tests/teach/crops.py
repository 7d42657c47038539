"""Crops that are made up: drawn shapes, each at another place."""

import os
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.system import exclusive_lock
from edged.teach.store import CropStore

SHAPES = ("disc", "square", "cross", "bar", "ring")
SIDE = 120


def shape(kind: str, seed: int, side: int = SIDE) -> NDArray[np.uint8]:
    """uint8 [side, side, 3]: dark on light, or the other way round, with noise."""
    rng = np.random.default_rng([SHAPES.index(kind), seed])
    paper, ink = (200, 40) if rng.random() < 0.5 else (40, 200)
    picture = np.full((side, side, 3), paper, np.uint8)
    x, y = (int(place) for place in rng.integers(side * 2 // 5, side * 3 // 5, 2))
    r, width = int(rng.integers(side // 5, side // 3)), side // 12
    match kind:
        case "disc":
            cv2.circle(picture, (x, y), r, (ink,) * 3, -1)
        case "ring":
            cv2.circle(picture, (x, y), r, (ink,) * 3, width)
        case "square":
            cv2.rectangle(picture, (x - r, y - r), (x + r, y + r), (ink,) * 3, -1)
        case "bar":
            cv2.line(picture, (x - r, y), (x + r, y), (ink,) * 3, width)
        case "cross":
            cv2.line(picture, (x - r, y), (x + r, y), (ink,) * 3, width)
            cv2.line(picture, (x, y - r), (x, y + r), (ink,) * 3, width)
    noisy = picture.astype(np.int16) + rng.integers(-12, 13, picture.shape)
    return np.asarray(np.clip(noisy, 0, 255), np.uint8)


def record(store: CropStore, label: str, count: int, *, side: int = SIDE, kind: str = "", first: int = 0) -> None:
    """So many crops of the shape `kind`, by default that which the label names."""
    for seed in range(first, first + count):
        store.add(shape(kind or label, seed, side), label, "door", 1000.0 + len(store.crops))
    store.save()


def a_store(folder: Path, count: int = 3, labels: tuple[str, ...] = ("disc", "bar"), side: int = 24) -> CropStore:
    """Some crops of some shapes."""
    store = CropStore.open(folder)
    for label in labels:
        record(store, label, count, side=side)
    return store


def release_locks() -> None:
    """Release the locks of stores and devices that this process holds."""
    for path in [path for path in exclusive_lock._held if path.name.startswith(("teach-", "device-"))]:
        os.close(exclusive_lock._held.pop(path))
