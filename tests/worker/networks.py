"""Small networks and pictures for the worker's tests."""

import numpy as np

from edged.model.graph import Dense, Flatten, Graph, Operator, Softmax
from edged.model.model_part import Images
from edged.model.package import Input

INPUT = Input(width=4, height=3, color="rgb", scale=1 / 255, mean=(0, 0, 0), std=(1, 1, 1))
CLASSES = 5


def dense_network(*, softmax: bool = False, weight: float | None = None) -> Graph:
    """4×3 RGB → 5 classes, with seeded weights, or all of them `weight`."""
    features = 3 * INPUT.height * INPUT.width
    weights = np.random.default_rng(1).normal(size=(CLASSES, features)).astype(np.float32)
    if weight is not None:
        weights[:] = weight
    operators: list[Operator] = [
        Flatten("flatten", ("image",), "flat"),
        Dense("dense", ("flat",), "scores", weights, np.zeros(CLASSES, np.float32)),
    ]
    shapes = {"image": (3, INPUT.height, INPUT.width), "flat": (features,), "scores": (CLASSES,)}
    if softmax:
        operators.append(Softmax("softmax", ("scores",), "shares"))
        shapes["shares"] = (CLASSES,)
    return Graph("dense", "image", operators[-1].output, tuple(operators), shapes)


def pictures(count: int, seed: int = 0) -> Images:
    """uint8 [count, 3, 4, 3]."""
    shape = (count, INPUT.height, INPUT.width, 3)
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
