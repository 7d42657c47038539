"""What retraining must keep: pruned weights at 0, shared weights on their codebook."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edged.compress.codebook import Codebook
from edged.compress.pruning import Kept
from edged.compress.weights import Values

State = dict[str, NDArray[Any]]  # of a trainer, by name
MOMENT = "moment "  # how the names of an optimizer's moments begin, before the name of their weight


class Constraint(Protocol):
    """A set of weights that are allowed."""

    def nearest(self, name: str, values: Values) -> Values:
        """Return the allowed weight nearest to `values`."""


@dataclass(frozen=True, eq=False)
class Pruned:
    """Only the weights `kept` may differ from 0."""

    kept: Kept

    def nearest(self, name: str, values: Values) -> Values:
        return np.where(self.kept[name], values, np.float32(0))


@dataclass(frozen=True, eq=False)
class Shared:
    """Weights with one index have one value, their mean; pruned ones stay 0."""

    codebooks: Mapping[str, Codebook]

    def nearest(self, name: str, values: Values) -> Values:
        return self.codebooks[name].refitted(values).values


def projected(state: Mapping[str, NDArray[Any]], names: "list[str]", constraint: Constraint) -> State:
    """Return the state of a trainer with the nearest allowed weights in place of those of these names.

    The optimizer's moments are cleared where a weight is 0: they would move it at the next step.
    """
    found = dict(state)
    for name in names:
        found[name] = np.asarray(constraint.nearest(name, state[name]), np.float32)
        for key in state:
            if key.startswith(MOMENT) and key.endswith(f" of {name}"):
                found[key] = np.where(found[name] == 0, np.float32(0), state[key])
    return found
