"""Round the weights of a layer so that the errors of its outputs, not of its weights, are small.

The weights of a row are rounded one after the other, and those that are not yet make up for the error of each.
Source: Frantar, Ashkboos, Hoefler, Alistarh, "GPTQ", 2023 (https://arxiv.org/abs/2210.17323).
"""

from collections.abc import Callable

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
    entries = np.sort(codebook.entries)

    def nearest(column: Floats) -> Floats:
        return entries[nearest_entry(column, entries)].astype(np.float64)

    found = rounded_rows(values.reshape(-1, len(moments)), moments, nearest)
    return assigned(found.reshape(values.shape).astype(values.dtype), entries)


def rounded_rows(rows: Values, moments: Floats, nearest: Callable[[Floats], Floats]) -> Floats:
    """Return the rows, [rows, inputs], of rounded values. Zeros stay.

    moments: of what a row multiplies, [inputs, inputs]. nearest: rounds a column, [rows].
    """
    order = np.argsort(
        -np.diag(moments), kind="stable"
    )  # large errors first, while many weights can make up for them
    left = rows.astype(np.float64)[:, order]
    stays_zero = left == 0
    factors = _factors(moments[np.ix_(order, order)])
    rounded = np.empty_like(left)
    for place in range(len(order)):
        chosen = nearest(left[:, place])
        rounded[:, place] = np.where(stays_zero[:, place], 0.0, chosen)
        error = (left[:, place] - rounded[:, place]) / factors[place, place]
        left[:, place + 1 :] -= np.outer(error, factors[place, place + 1 :])
    found = np.empty_like(rounded)
    found[:, order] = rounded
    return found


def _factors(moments: Floats) -> Floats:
    """Return the upper Cholesky factor of the inverse: how an error at a place is spread on those after it."""
    damping = DAMPING * float(np.mean(np.diag(moments))) or 1.0
    inverse = np.linalg.inv(moments + damping * np.eye(len(moments)))
    return np.asarray(np.linalg.cholesky((inverse + inverse.T) / 2).T, np.float64)
