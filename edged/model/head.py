"""The last layers of a network that are taught: Dense → ReLU → Dense → Softmax on a frozen backbone."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.activations import RELU
from edged.model.cuts import Cut, cuts, part
from edged.model.graph import Dense, Float32, Graph, Operator, Softmax
from edged.model.reference import compute

LAYERS = ("hidden", "scores", "shares")
WIRE = np.dtype("<f4")


@dataclass(frozen=True, eq=False)
class Head:
    """hidden_weight: [hidden, features]; hidden_bias: [hidden]; weight: [classes, hidden]; bias: [classes]."""

    hidden_weight: Float32
    hidden_bias: Float32
    weight: Float32
    bias: Float32

    def __post_init__(self) -> None:
        hidden, classes = len(self.hidden_bias), len(self.bias)
        if self.hidden_weight.shape[:1] != (hidden,) or self.weight.shape != (classes, hidden):
            raise ValueError(f"a head of {self.hidden_weight.shape}, {hidden}, {self.weight.shape}, {classes}")

    @property
    def features(self) -> int:
        """Return the number of features."""
        return int(self.hidden_weight.shape[1])

    @property
    def hidden(self) -> int:
        """Return the number of values between its two layers."""
        return len(self.hidden_bias)

    @property
    def classes(self) -> int:
        """Return the number of outputs, one for each label."""
        return len(self.bias)

    def operators(self, source: str, prefix: str = "taught") -> tuple[Operator, ...]:
        """Return the head's operators after `source`, [features] per frame. Their names begin with `prefix`."""
        hidden, scores, shares = (f"{prefix}.{layer}" for layer in LAYERS)
        return (
            Dense(hidden, (source,), hidden, self.hidden_weight, self.hidden_bias, activation=RELU),
            Dense(scores, (hidden,), scores, self.weight, self.bias),
            Softmax(shares, (scores,), shares),
        )

    def shares(self, features: NDArray[np.float32]) -> Float32:
        """Compute a share for each class from features [n, features]: [n, classes], each row with the sum 1."""
        values = features
        for operator in self.operators("features"):
            values = compute(operator, values)
        return values

    def to_bytes(self) -> bytes:
        """Return the four arrays in order, little-endian float32, C order."""
        arrays = (self.hidden_weight, self.hidden_bias, self.weight, self.bias)
        return b"".join(np.ascontiguousarray(array, WIRE).tobytes() for array in arrays)

    @classmethod
    def from_bytes(cls, content: bytes | memoryview, features: int, hidden: int, classes: int) -> Self:
        """Invert `to_bytes`. Raises ModelError for a wrong number of values, or values that are not finite."""
        shapes = ((hidden, features), (hidden,), (classes, hidden), (classes,))
        sizes = [int(np.prod(shape)) for shape in shapes]
        if memoryview(content).nbytes != sum(sizes) * WIRE.itemsize:
            raise ModelError(
                f"a head of {memoryview(content).nbytes} bytes: expected {sum(sizes) * WIRE.itemsize}, for "
                f"{features} features, {hidden} hidden values and {classes} classes"
            )
        values = np.frombuffer(content, WIRE).astype(np.float32)
        if not np.isfinite(values).all():
            raise ModelError("a head with weights that are not finite")
        ends = np.cumsum(sizes)[:-1]
        return cls(*(each.reshape(shape) for each, shape in zip(np.split(values, ends), shapes, strict=True)))


def features_of(graph: Graph) -> Cut:
    """Return the cut before the last Dense, whose input are a frame's features, [features].

    Raises ModelError for a network without such a cut, or where more than the features crosses it.
    """
    last = max((index for index, each in enumerate(graph.operators) if isinstance(each, Dense)), default=0)
    for cut in cuts(graph):
        if cut.operators == last and len(cut.shape) == 1:
            return cut
    raise ModelError(f"{graph.name} does not end in a fully connected layer: it cannot be taught")


def with_head(graph: Graph, head: Head) -> Graph:
    """Return the backbone of `graph`, then `head`. Raises ModelError if it has other features."""
    cut = features_of(graph)
    if cut.shape != (head.features,):
        raise ModelError(f"a head for {head.features} features: {graph.name} has {cut.shape[0]}")
    backbone, recheck = part(graph, None, cut), graph.recheck
    used = {name.partition(".")[0] for name in graph.shapes}  # the network may itself have been taught
    prefix = next(name for name in map("taught{}".format, ("", *range(2, 99))) if name not in used)
    operators = head.operators(cut.tensor, prefix)
    widths = (head.hidden, head.classes, head.classes)
    shapes = {each.output: (width,) for each, width in zip(operators, widths, strict=True)}
    return replace(
        backbone,
        output=operators[-1].output,
        operators=(*backbone.operators, *operators),
        shapes={**graph.shapes, **shapes},
        recheck=(lambda: with_head(recheck(), head)) if recheck else None,
    )
