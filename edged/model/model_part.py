"""The part of a model that one worker runs: all of it, or from one cut to the next, with its input and output."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from edged import messages
from edged.errors import ModelError
from edged.model import reference
from edged.model.cuts import Cut, ends_of, part
from edged.model.graph import Graph, Shape
from edged.model.head import features_of
from edged.model.package import Input, Model

Images = NDArray[np.uint8]
Features = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ModelPart:
    """`graph` from the cut `begin` to `end`; None: from the images, to the scores. `input`: None behind a cut.

    `features`: the tensor on which heads can be taught; None where this part or the model has none. `model`: that
    this is a part of; None for a graph alone. `keeps_weights`: what a device makes of the weights is kept for the
    next start.
    """

    graph: Graph
    input: Input | None
    begin: Cut | None = None
    end: Cut | None = None
    features: str | None = None
    model: Model | None = None
    keeps_weights: bool = False

    @property
    def name(self) -> str:
        """Return the name of the model, or of a graph alone."""
        return self.model.name if self.model else self.graph.name

    @property
    def sha256(self) -> str | None:
        """Return the hash of the model's file; None for a graph alone."""
        return self.model.sha256 if self.model else None

    def of_model(self) -> Model:
        """Return the model that this is a part of. Raises ModelError for a graph alone."""
        if self.model is None:
            raise ModelError(f"{self.graph.name} is no part of a model")
        return self.model

    @property
    def output_begins(self) -> tuple[int, ...]:
        """Return where each output of the file begins in the vector of all; the first one is at 0."""
        return self.model.detector.begins if self.model and self.model.detector and not self.end else (0,)

    @property
    def frame_shape(self) -> Shape:
        """Return the shape of a frame: uint8 (height, width, 3), or float32 (channels, height, width)."""
        if self.input:
            return self.input.height, self.input.width, 3
        shape = self.graph.shapes[self.graph.input]
        return shape if len(shape) == 3 else (*shape, 1, 1)

    @property
    def described(self) -> messages.Part | None:
        """Return the description for the hub; None for a whole network."""
        if not self.begin and not self.end:
            return None
        return messages.Part(
            begin=self.begin.after if self.begin else None,
            end=self.end.after if self.end else None,
            values_in=prod(self.begin.shape) if self.begin else 0,
            values_out=prod(self.end.shape) if self.end else 0,
        )

    def noise(self, frames: int) -> Images | Features:
        """Return a fixed random input that affects every weight.

        Features are as after a ReLU.
        """
        random = np.random.default_rng(0)
        if self.input:
            return random.integers(0, 256, (frames, *self.frame_shape), np.uint8)
        return np.abs(random.standard_normal((frames, *self.frame_shape), np.float32))

    def truth(self, frames: Images | Features) -> Features:
        """Return the reference's answer for this input."""
        return self.checked().tensors(frames)[self.graph.output].reshape(len(frames), -1)

    def checked(self) -> Self:
        """Return the part with `Graph.checked`. Raises ModelError."""
        return replace(self, graph=self.graph.checked())

    def prepared(self, frames: Images | Features) -> Features:
        """Return what the first operator reads, float32 [n, *shape]: prepared images, or features as they are."""
        x = reference.prepare(frames.view(np.uint8), self.input) if self.input else frames.view(np.float32)
        return x.reshape(len(x), *self.graph.shapes[self.graph.input])

    def tensors(self, frames: Images | Features) -> Mapping[str, Features]:
        """Return every tensor of the reference, float32 [n, *shape], by name."""
        return reference.run_all(self.graph, self.prepared(frames))


def whole_model(model: Model) -> ModelPart:
    return part_of(model, None, None)


def part_of(model: Model, begin: str | None, end: str | None) -> ModelPart:
    """Return the part between two cuts, as the config's `until` names them.

    Raises ModelError, which lists all cuts.
    """
    first, last = ends_of(model.graph, begin, end)
    graph = part(model.graph, first, last)
    features = None if last else _features(model.graph)
    if not any(features in operator.inputs for operator in graph.operators):  # the cut is before it
        features = None
    return ModelPart(graph, None if first else model.input, first, last, features, model, keeps_weights=True)


def inner_part(graph: Graph, model_input: Input | None = None) -> ModelPart:
    """Return a graph as a part before a cut, whose output may have any shape.

    `model_input`: None for one that is behind a cut, too.
    """
    end = Cut(len(graph.operators), graph.operators[-1].name, graph.output, graph.shapes[graph.output])
    return ModelPart(graph, model_input, end=end)


def _features(graph: Graph) -> str | None:
    """Return the features. If the part begins with them, the part alone does not show it."""
    try:
        return features_of(graph).tensor
    except ModelError:
        return None
