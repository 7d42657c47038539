"""A model with all that is needed to use it: its graph, its labels, and what it wants as input."""

from dataclasses import dataclass
from typing import Literal

from edged.model.graph import Graph


@dataclass(frozen=True)
class Input:
    """What the network wants: input = (pixel × scale − mean) ÷ std, pixel in 0 … 255, by channel.

    `mean` and `std` are in the model's channel order, `color`; frames always travel as RGB.
    """

    width: int
    height: int
    color: Literal["rgb", "bgr"]
    scale: float
    mean: tuple[float, float, float]
    std: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Model:
    """`sha256` is that of the model file (of the weights for a random model). `labels` by class index.

    `random_weights` marks the named networks that are for timing alone: say so wherever they are used.
    """

    name: str
    sha256: str
    labels: tuple[str, ...]
    graph: Graph
    input: Input
    random_weights: bool = False
