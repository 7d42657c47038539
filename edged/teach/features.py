"""Store features of crops by model: `features/KEY/SHA256.npy`, named by the content's hash.

They came from the running worker, or were computed: a missing or damaged file only costs time.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.model.head import features_of
from edged.model.package import Model
from edged.teach.store_files import save

Vector = NDArray[np.float32]

MODELS = 3  # models whose features are kept: the most recently used

log = logging.getLogger("edged.teach")


def features_key(model: Model) -> str:
    """Return a key of the model's features: of its file, and of how its input is prepared."""
    return sha256(f"{model.sha256} {model.input!r}".encode()).hexdigest()


class FeatureFiles:
    """The stored features of one model, in a teach folder."""

    def __init__(self, folder: Path, model: Model) -> None:
        self._folder = folder / "features" / features_key(model)
        (count,) = features_of(model.graph).shape
        self._row = np.dtype([("crop", "S64"), ("values", "<f4", (count,))])

    def load(self) -> dict[str, Vector]:
        """Return all whole and finite features, by the hash of the crop."""
        rows = [row for path in self._files() for row in self._rows_of(path)]
        return {crop.decode(): values for crop, values in rows if np.isfinite(values).all()}

    def add(self, features: Mapping[str, Vector]) -> None:
        """Write one more file. Raises StoreError."""
        if features:
            self._write(features)

    def compact(self, features: Mapping[str, Vector]) -> None:
        """Replace all files by one. Raises StoreError."""
        before = set(self._files())
        if features:
            before.discard(self._write(features))
        for path in before:
            path.unlink(missing_ok=True)
        self._forget_other_models()

    def _write(self, features: Mapping[str, Vector]) -> Path:
        rows = np.zeros(len(features), self._row)
        for place, (crop, values) in enumerate(features.items()):
            rows[place] = crop.encode(), values
        content = BytesIO()
        np.save(content, rows, allow_pickle=False)
        path = self._folder / f"{sha256(content.getvalue()).hexdigest()}.npy"
        save(path, content.getvalue())
        return path

    def _files(self) -> Iterator[Path]:
        yield from sorted(self._folder.glob("*.npy"))

    def _rows_of(self, path: Path) -> Iterable[tuple[bytes, Vector]]:
        content = b""
        with suppress(OSError):
            content = path.read_bytes()
        if sha256(content).hexdigest() == path.stem:
            rows: NDArray[Any] = np.load(BytesIO(content), allow_pickle=False)
            if rows.dtype == self._row:
                return zip(rows["crop"].tolist(), rows["values"], strict=True)
        log.warning("%s cannot be read or is damaged: its features are computed again", path)
        return ()

    def _forget_other_models(self) -> None:
        others = [path for path in self._folder.parent.iterdir() if path != self._folder]
        for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[MODELS - 1 :]:
            rmtree(path, ignore_errors=True)
