"""Compute features of crops that no worker has sent: the model up to its last layer, on a device or in NumPy."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from edged.camera.preprocess import preprocess
from edged.model import reference
from edged.model.cuts import part
from edged.model.head import features_of
from edged.model.package import Model
from edged.teach.features import FeatureFiles, Vector
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop, Pixels

if TYPE_CHECKING:
    from edged.engine.device import Device

BATCH = 16


class Backbone:
    """Runs `model` up to its features. `device`: None for NumPy."""

    def __init__(self, model: Model, device: "Device | None") -> None:
        graph = model.graph.checked()
        self._graph = part(graph, None, features_of(graph))
        self._input = model.input
        self._runtime = None
        if device:
            from edged.engine.runtime import Runtime
            from edged.engine.tuning_records import chooser_for

            self._runtime = Runtime(
                self._graph, model.input, device, batch=BATCH, chooser=chooser_for(device), is_part=True
            )

    def features(self, crops: Sequence[Pixels]) -> Vector:
        """Return features [n, features]. A crop of another size is resized to that of the model."""
        wanted = self._input
        frames = np.stack([preprocess(crop, wanted.width, wanted.height) for crop in crops])
        if self._runtime is None:
            return reference.run(self._graph, reference.prepare(frames, wanted))
        outputs = np.asarray(self._runtime.submit(frames).wait().outputs, np.float32)
        return outputs.reshape(len(frames), -1)

    def close(self) -> None:
        """Release the device."""
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
