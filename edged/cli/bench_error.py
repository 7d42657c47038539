"""How far a network on a device is from fp32 as NumPy computes it: layer by layer, and in what it answers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edged.model import reference
from edged.model.package import Model

if TYPE_CHECKING:
    from edged.engine.layer_outputs import LayerOutputs

Tensors = Mapping[str, NDArray[np.float32]]


@dataclass
class LayerError:
    """Of all images: the layer's largest absolute value in fp32, and the largest difference from it.

    Errors of the layers before are in it. inf: there were values that no number of this precision can hold.
    """

    layer: str
    largest: float = 0.0
    difference: float = 0.0

    @property
    def share(self) -> float:
        """The error as a share of the layer's range."""
        return self.difference / self.largest if self.largest else self.difference

    def meet(self, found: NDArray[np.float32], expected: NDArray[np.float32]) -> None:
        """Take another image's values into account."""
        difference = np.abs(found.reshape(-1) - expected.reshape(-1)).max()
        self.largest = max(self.largest, float(np.abs(expected).max()))
        self.difference = max(self.difference, float(difference) if np.isfinite(difference) else np.inf)


@dataclass(frozen=True)
class Errors:
    """By layer in the order of the network; `agree` counts the images whose first class is that of fp32.

    `pictures`: the folder they came from, None for random images.
    """

    layers: tuple[LayerError, ...]
    agree: int
    images: int
    pictures: str | None

    def as_object(self) -> dict[str, Any]:
        """For JSON, which knows no infinity: null where values could not be held."""
        layers = [
            {**asdict(layer), "difference": _number(layer.difference), "share": _number(layer.share)}
            for layer in self.layers
        ]
        return {**asdict(self), "layers": layers}

    def as_table(self) -> str:
        """A line a layer, and what it means for the answers."""
        source = f"pictures of {self.pictures}" if self.pictures else "random images, which say little"
        width = max(len(layer.layer) for layer in self.layers)
        lines = [
            f"error against fp32 (NumPy), with that of the layers before, on {self.images} {source}",
            f"{'layer':{width}}{'range':>12}{'error ÷ range':>16}",
            *(f"{layer.layer:{width}}{layer.largest:12.4g}{_text(layer.share):>16}" for layer in self.layers),
            f"the first class is that of fp32 for {self.agree} of {self.images}",
        ]
        return "\n".join(lines if self.pictures else [*lines, "give --images FOLDER for figures of your own"])


def errors_of(
    model: Model, outputs: "LayerOutputs", images: NDArray[np.uint8], pictures: str | None = None
) -> Errors:
    """Compare every layer on every image, uint8 RGB [n, height, width, 3]. Raises DeviceError."""
    errors: dict[str, LayerError] = {}
    agree = 0
    for image in images:
        found = outputs.of(image[np.newaxis])
        expected = reference.run_all(model.graph, reference.prepare(image[np.newaxis], model.input))
        for operator in model.graph.operators:
            if operator.output in found:
                error = errors.setdefault(operator.output, LayerError(operator.name))
                error.meet(found[operator.output], expected[operator.output])
        agree += _same_class(found[outputs.output], expected[outputs.output])
    return Errors(tuple(errors.values()), agree, len(images), pictures)


def _same_class(found: NDArray[np.float32], expected: NDArray[np.float32]) -> bool:
    return bool(np.isfinite(found).all() and found.argmax() == expected.argmax())


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _text(share: float) -> str:
    return f"{share:.1e}" if np.isfinite(share) else "not finite"
