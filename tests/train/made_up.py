"""Small data sets made up on the spot: stripes, which a small network tells apart within seconds."""

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIDE = 8
LABELS = ("across", "down", "slant")

Bytes = NDArray[np.uint8]


def stripes(count: int, seed: int = 0) -> tuple[Bytes, Bytes]:
    """Noisy images uint8 [count, 8, 8] and labels uint8 [count], each label equally often."""
    random = np.random.default_rng(seed)
    labels = (np.arange(count) % len(LABELS)).astype(np.uint8)
    y, x = np.mgrid[:SIDE, :SIDE]
    waves = np.stack([y, x, x + y])[labels] + random.integers(0, 4, (count, 1, 1))
    images = 255 * (waves // 2 % 2) * 0.6 + random.integers(0, 100, (count, SIDE, SIDE))
    return images.astype(np.uint8), labels


def idx_file(path: Path, values: Bytes) -> Path:
    """`values` as IDX, packed where the name ends in .gz."""
    header = bytes((0, 0, 8, values.ndim)) + np.array(values.shape, ">u4").tobytes()
    content = header + values.tobytes()
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return path


def idx_folder(folder: Path, training: int = 300, test: int = 60) -> Path:
    """Four IDX files, of which two are packed."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, suffix, count, seed in (("train", ".gz", training, 1), ("t10k", "", test, 2)):
        images, labels = stripes(count, seed)
        idx_file(folder / f"{part}-images-idx3-ubyte{suffix}", images)
        idx_file(folder / f"{part}-labels-idx1-ubyte{suffix}", labels)
    return folder
