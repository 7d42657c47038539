"""Features of crops, by model: those that a running worker sent or that were computed before; and missing ones.

They are stored as `features/KEY/SHA256.npy`, named by the content's hash: a missing or damaged file only costs
time. The model is run up to its last layer, on a device or in NumPy.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edged.config import WorkerConfig
from edged.model import reference
from edged.model.cuts import part
from edged.model.head import features_of
from edged.model.model_part import ModelPart
from edged.model.package import Model
from edged.pictures.prepare import fitted
from edged.runtime.proven import open_proven
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop, Pixels
from edged.teach.store_files import save

if TYPE_CHECKING:
    from edged.engine.device import Device

Vector = NDArray[np.float32]

MODELS = 3  # models whose features are kept: the most recently used

log = logging.getLogger("edged.teach")
BATCH = 16


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
        others = [path for path in self._folder.parent.iterdir() if path != self._folder]
        for path in sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)[MODELS - 1 :]:
            rmtree(path, ignore_errors=True)  # features of a model that was not used lately

    def _write(self, features: Mapping[str, Vector]) -> Path:
        rows = np.zeros(len(features), self._row)
        for index, (crop, values) in enumerate(features.items()):
            rows[index] = crop.encode(), values
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


class Backbone:
    """Runs `model` up to its features. `device`: None for NumPy."""

    def __init__(self, model: Model, device: "Device | None") -> None:
        graph = model.graph.checked()
        end = features_of(graph)
        self._graph = part(graph, None, end)
        self._input = model.input
        self._runtime = None
        if device:
            worker = WorkerConfig(device=f"{device.platform} {device.name}", batch=BATCH)
            ours = ModelPart(self._graph, model.input, end=end, model=model)
            self._runtime = open_proven(ours, worker).runtime

    def features(self, crops: Sequence[Pixels]) -> Vector:
        """Return features [n, features]. A crop of another size is resized to that of the model."""
        model_input = self._input
        frames = np.stack([fitted(crop, model_input.width, model_input.height) for crop in crops])
        if self._runtime is None:
            return reference.run(self._graph, reference.prepare(frames, model_input))
        outputs = np.asarray(self._runtime.submit(frames).wait().outputs, np.float32)
        return outputs.reshape(len(frames), -1)

    def close(self) -> None:
        if self._runtime:
            self._runtime.close()


def missing(store: CropStore, known: dict[str, Vector]) -> list[Crop]:
    """Return the crops without known features."""
    return [crop for crop in store.crops if crop.sha256 not in known]


def all_features(
    store: CropStore, model: Model, device: "Device | None"
) -> Iterator[tuple[int, dict[str, Vector]]]:
    """Yield features by the crop's hash: first the known ones, then more, with the number still to come.

    Computed features are stored. Raises StoreError for a damaged crop.
    """
    files = FeatureFiles(store.folder, model)
    there = {crop.sha256 for crop in store.crops}
    known = {crop: values for crop, values in files.load().items() if crop in there}
    todo = missing(store, known)
    yield len(todo), known
    if todo:
        backbone = Backbone(model, device)
        for first in range(0, len(todo), BATCH):
            ours = todo[first : first + BATCH]
            rows = backbone.features([store.pixels(crop) for crop in ours])
            known |= {crop.sha256: row for crop, row in zip(ours, rows, strict=True)}
            yield len(todo) - first - len(ours), known
        backbone.close()
    files.compact(known)
