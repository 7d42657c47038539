"""Choose the weights that a network can do without: the smallest ones, by a score that compares all layers.

Source: Lee, Park, Mo, Ahn, Shin, "Layer-adaptive sparsity for the magnitude-based pruning", 2021
(https://arxiv.org/abs/2010.07611).
"""

import numpy as np
from numpy.typing import NDArray

from edged.compress.weights import Values, Weights

Kept = dict[str, NDArray[np.bool_]]  # which values of a weight stay, by its name


def scores(values: Values) -> NDArray[np.float64]:
    """Return the score of each value, [size]: w² ÷ Σ v² over those of the layer that are not smaller.

    The largest one of a layer scores 1, so that no layer is removed as a whole.
    """
    squares = np.square(values.reshape(-1), dtype=np.float64)
    order = np.argsort(squares, kind="stable")
    rest = np.cumsum(squares[order][::-1])[::-1]
    found = np.empty(squares.size)
    found[order] = np.divide(squares[order], rest, out=np.zeros_like(rest), where=rest > 0)
    return found


def kept(weights: Weights, share: float) -> Kept:
    """Return which values stay when the `share` (0 to 1) of all of them with the lowest scores is pruned."""
    by_name = {name: scores(values) for name, values in weights.items()}
    every = np.concatenate(list(by_name.values()))
    count = int(share * every.size)
    limit = np.partition(every, count)[count] if 0 < count < every.size else -1.0
    return {name: (found >= limit).reshape(weights[name].shape) for name, found in by_name.items()}


def pruned(weights: Weights, share: float) -> dict[str, Values]:
    """Return the weights in which `share` of all values is 0."""
    return {
        name: np.where(stay, weights[name], 0).astype(weights[name].dtype)
        for name, stay in kept(weights, share).items()
    }
