"""Share the weights of a layer so that the errors of its outputs, not of its weights, are small.

The weights of a row get their entries one after the other, and those that have none yet make up for the error of
each. Source: Frantar, Ashkboos, Hoefler, Alistarh, "GPTQ", 2023 (https://arxiv.org/abs/2210.17323), but with the
entries of a codebook in place of a grid.
"""

import numpy as np
from numpy.typing import NDArray

from edged.compress.codebook import Codebook, assigned, nearest_entry
from edged.compress.weights import Values

DAMPING = 0.01  # share of the mean diagonal that is added to it: inputs of few pictures are not independent

Floats = NDArray[np.float64]


def compensated(values: Values, codebook: Codebook, moments: Floats) -> Codebook:
    """Return the codebook with other indices: those of smaller errors in the outputs.

    values: the weight, [rows, …]; zeros stay. moments: of what a row multiplies, [inputs, inputs]. The result has
    the same entries, or fewer, in an order of their own.
    """
    inputs = moments.shape[0]
    order = np.argsort(
        -np.diag(moments), kind="stable"
    )  # large errors first, while many weights can make up for them
    rows = values.reshape(-1, inputs).astype(np.float64)[:, order]
    stays_zero = rows == 0
    factors = _factors(moments[np.ix_(order, order)])
    entries = np.sort(codebook.entries)
    shared = np.empty_like(rows)
    for place in range(inputs):
        chosen = entries[nearest_entry(rows[:, place], entries)].astype(np.float64)
        shared[:, place] = np.where(stays_zero[:, place], 0.0, chosen)
        error = (rows[:, place] - shared[:, place]) / factors[place, place]
        rows[:, place + 1 :] -= np.outer(error, factors[place, place + 1 :])
    found = np.empty_like(shared)
    found[:, order] = shared
    return assigned(found.reshape(values.shape).astype(values.dtype), entries)


def _factors(moments: Floats) -> Floats:
    """Return the upper Cholesky factor of the inverse: how an error at a place is spread on those after it."""
    damping = DAMPING * float(np.mean(np.diag(moments))) or 1.0
    inverse = np.linalg.inv(moments + damping * np.eye(len(moments)))
    return np.asarray(np.linalg.cholesky((inverse + inverse.T) / 2).T, np.float64)
