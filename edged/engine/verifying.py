"""Compare every layer of a network on a device with the reference in float64, on any number of pictures.

`proving` does a short form of this before a worker serves: on noise, and one layer of each shape.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged.config import Precision
from edged.engine.agreement import HALF_TOLERANCE, SCORES_CLOSE, TOLERANCE, Agreement, Array, share_of_range
from edged.engine.device import Device
from edged.engine.runtime import Runtime
from edged.engine.selection import Chooser
from edged.model import reference
from edged.model.cost import kind_of
from edged.model.graph import Float32, OnHost
from edged.model.model_part import ModelPart

ON_HOST = "on_host"  # in place of a variant, as in profiles


@dataclass
class VerifiedLayer:
    """The errors of one layer, as shares of its range, over all pictures so far.

    `own`: for the inputs that the device computed; `total`: with the errors of the layers before it. `largest`:
    the largest absolute value. `compared`: False if some of its values are beyond what its type can hold, or if
    the host computes it, by the reference.
    """

    layer: str
    kind: str
    variant: str
    largest: float = 0.0
    own: float = 0.0
    total: float = 0.0
    is_right: bool = True
    compared: bool = True

    def include(self, own: float | None, total: float, largest: float, *, is_right: bool) -> None:
        """Include another picture. `own`: None if it cannot be compared."""
        self.own = max(self.own, own or 0.0)
        self.total = max(self.total, total)
        self.largest = max(self.largest, largest)
        self.is_right = self.is_right and is_right
        self.compared = self.compared and own is not None


class Verification:
    """A part of a network on a device, with the errors of its layers so far. The part's weights are read.

    The arguments are those of `Runtime`. Raises DeviceError, ModelError.
    """

    def __init__(
        self,
        part: ModelPart,
        device: Device,
        *,
        precision: Precision,
        chooser: Chooser,
        batch: int = 1,
        cache: Path | None = None,
    ) -> None:
        self._part, self._precision, self._batch = part, precision, batch
        self._agreement = Agreement(part, device, batch=batch, precision=precision, chooser=chooser)
        self._runtime = Runtime(
            part, device, batch=batch, precision=precision, chooser=chooser, in_flight=1, cache=cache
        )
        self.device_name = self._runtime.device_name
        self._prepared = VerifiedLayer("pictures", "prepared", self._agreement.first_kernel)
        self._sites = {site.operator.name: site for site in self._agreement.sites}
        variants = {name: chooser.choose(site).variant.name for name, site in self._sites.items()}
        self._layers = [
            VerifiedLayer(operator.name, kind_of(operator), variants.get(operator.name, ON_HOST))
            for operator in part.graph.operators
            if operator.name in variants or isinstance(operator, OnHost)
        ]
        self._outputs = {operator.name: operator.output for operator in part.graph.operators}
        self.expected: list[Array] = []  # scores of the reference, float64 [classes], of each picture
        self.scores_error = 0.0

    @property
    def layers(self) -> tuple[VerifiedLayer, ...]:
        """Return the preparation of pictures, then all layers in order."""
        return (self._prepared, *self._layers)

    @property
    def first_wrong(self) -> VerifiedLayer | None:
        """Return the first layer that disagrees with the reference for its own inputs: where the error begins."""
        return next((layer for layer in self.layers if not layer.is_right), None)

    @property
    def scores_limit(self) -> float:
        """Return the largest accepted error of the scores, as a share of their range."""
        return SCORES_CLOSE[self._precision]

    @property
    def layer_limit(self) -> float:
        """Return the largest accepted error of one layer, as a share of its range."""
        return TOLERANCE if self._precision == "fp32" else HALF_TOLERANCE

    @property
    def pictures(self) -> int:
        """Return how many pictures were compared."""
        return len(self.expected)

    @property
    def is_trusted(self) -> bool:
        """Return whether all layers and the scores agree with the reference."""
        return self.first_wrong is None and self.scores_error <= self.scores_limit

    def compare(self, images: NDArray[np.uint8]) -> Iterator[Array]:
        """Compare further pictures, uint8 RGB [n, height, width, 3]; yield the scores of each job, [n, classes].

        Raises DeviceError, and MemoryError if the host has no memory for the tensors of a job.
        """
        for start in range(0, len(images), self._batch):
            job = images[start : start + self._batch]
            outputs, tensors = self._runtime.observe(job, self._agreement.written, last=len(job))
            tensors[self._agreement.output] = outputs
            for index in range(len(job)):
                one = {name: tensor[index : index + 1] for name, tensor in tensors.items()}
                self._include(job[index : index + 1], one)
            yield outputs.reshape(len(job), -1)

    def _include(self, image: NDArray[np.uint8], tensors: Mapping[str, Array]) -> None:
        """Compare the tensors of one picture."""
        prepared = self._part.prepared(image)
        with np.errstate(all="ignore"):  # a network may overflow by itself
            expected = reference.run_all(self._part.graph, prepared, np.float64)
            self._include_prepared(tensors, prepared)
            for layer in self._layers:
                self._include_layer(layer, tensors, expected[self._outputs[layer.layer]])
        self._include_scores(tensors[self._agreement.output], expected[self._agreement.output])

    def _include_prepared(self, tensors: Mapping[str, Array], inputs: Float32) -> None:
        if error := self._agreement.prepared(tensors, inputs):
            largest = float(np.abs(self._agreement.prepared_by_reference(inputs)).max())
            self._prepared.include(error.share, error.share, largest, is_right=error.is_right)

    def _include_layer(self, layer: VerifiedLayer, tensors: Mapping[str, Array], expected: Array) -> None:
        found = tensors[self._outputs[layer.layer]]
        site = self._sites.get(layer.layer)
        own = self._agreement.operator(site, tensors, np.float64) if site else None
        total = share_of_range(np.asarray(found, np.float64).reshape(expected.shape), expected)
        largest = float(np.abs(expected).max())
        layer.include(own.share if own else None, total, largest, is_right=own is None or own.is_right)

    def _include_scores(self, found: Array, expected: Array) -> None:
        self.expected.append(expected.reshape(-1))
        self.scores_error = max(self.scores_error, self._agreement.outputs(found, expected))

    def outputs_error(self, found: Array, expected: Array) -> float:
        """Return how far outputs [n, values] are from others, as a share of their range."""
        return self._agreement.outputs(found, expected)

    def close(self) -> None:
        self._runtime.close()
