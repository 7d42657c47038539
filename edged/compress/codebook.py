"""Share the weights of a layer: each is replaced by an entry of a codebook, found by k-means.

The nearest entry makes the errors of the weights small. `compensated` makes those of the layer's outputs small: it
rounds the weights of a row one after the other, and adjusts the remaining ones to compensate for each error.
Source: Frantar, Ashkboos, Hoefler, Alistarh, "GPTQ", 2023 (https://arxiv.org/abs/2210.17323).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.compress.weights import Values

LARGEST = 256  # entries: an index fits a byte
STEPS = 60  # of k-means: it has converged long before

Floats = NDArray[np.float64]

AT_ONCE = 64  # inputs whose sums of earlier errors are computed by one product of matrices
DAMPING = 0.01  # share of the mean diagonal that is added to it: inputs of few pictures are not independent


@dataclass(frozen=True, eq=False)
class Codebook:
    """entries: [k], the most frequent one first; indices: uint8, of the weight's shape. `error`: mean square."""

    entries: Values
    indices: NDArray[np.uint8]
    error: float

    @property
    def values(self) -> Values:
        """Return the weight that the entries and indices stand for, of the weight's shape."""
        return np.asarray(self.entries[self.indices])

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """Return how often each entry is used, [k]."""
        return np.bincount(self.indices.reshape(-1), minlength=len(self.entries))

    def refitted(self, values: Values) -> "Codebook":
        """Return the same assignment with each entry the mean of its new `values`; 0 stays 0."""
        sums = np.bincount(self.indices.reshape(-1), values.reshape(-1), len(self.entries))
        means = np.where(self.counts > 0, sums / np.maximum(self.counts, 1), self.entries)
        entries = np.where(self.entries == 0, 0, means).astype(values.dtype)
        difference = entries[self.indices].astype(np.float64) - values
        return replace(self, entries=entries, error=float(np.mean(np.square(difference))))


def share(values: Values, count: int) -> Codebook:
    """Return a codebook of at most `count` entries for a weight. If it has zeros, 0 is one of them."""
    flat = values.reshape(-1).astype(np.float64)
    others = np.sort(flat[flat != 0])
    has_zeros = others.size < flat.size
    means = _k_means(others, count - has_zeros) if others.size else np.empty(0)
    entries = np.unique(np.append(means, 0.0) if has_zeros else means).astype(values.dtype)
    return assigned(values, entries)


def _k_means(ordered: Floats, count: int) -> Floats:
    """Return `count` means of ascending values, from a start on even distances, as in Deep Compression.

    The border of two clusters is a place in `ordered`; the sum of a cluster is a difference of running sums.
    """
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    means = np.linspace(ordered[0], ordered[-1], count)
    for _ in range(STEPS):
        inner = np.searchsorted(ordered, (means[1:] + means[:-1]) / 2)
        bounds = np.concatenate([[0], inner, [ordered.size]])
        sizes = np.diff(bounds)
        moved = np.where(sizes > 0, np.diff(sums[bounds]) / np.maximum(sizes, 1), means)
        if np.array_equal(moved, means):
            break
        means = np.sort(moved)
    return means


def assigned(values: Values, entries: Values) -> Codebook:
    """Return a codebook of the nearest of the ascending `entries` for each value; unused entries are dropped."""
    nearest = nearest_entry(values.reshape(-1), entries)
    counts = np.bincount(nearest, minlength=len(entries))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    ranks = np.zeros(len(entries), np.uint8)
    ranks[order] = np.arange(len(order))
    difference = entries[nearest].astype(np.float64) - values.reshape(-1)
    error = float(np.mean(np.square(difference)))
    return Codebook(entries[order], ranks[nearest].reshape(values.shape), error)


def nearest_entry(values: NDArray[Any], entries: Values) -> NDArray[np.intp]:
    """Return the index of the nearest of the ascending `entries` for each value."""
    middles = (entries[1:].astype(np.float64) + entries[:-1]) / 2
    return np.searchsorted(middles, values)


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
    exact = np.ascontiguousarray(rows.T[order], np.float64)
    stays_zero = exact == 0
    shares = _shares(moments[np.ix_(order, order)])
    rounded, errors = np.empty_like(exact), np.empty_like(exact)
    for start in range(0, len(order), AT_ONCE):
        end = min(start + AT_ONCE, len(order))
        targets = exact[start:end] + shares[:start, start:end].T @ errors[:start]
        for index in range(start, end):
            mended = targets[index - start] + shares[start:index, index] @ errors[start:index]
            rounded[index] = np.where(stays_zero[index], 0.0, nearest(mended))
            errors[index] = exact[index] - rounded[index]
    found = np.empty_like(rounded)
    found[order] = rounded
    return found.T


def _shares(moments: Floats) -> Floats:
    """Return which share of the error at a place, a row, each place after it makes up for: [inputs, inputs].

    With moments = V Vᵀ, V upper triangular, the output's mean square error is that of errors · V. Each column of V
    has a sum of its own, which the weight at its place, the last of them, brings to 0.
    """
    damping = DAMPING * float(np.mean(np.diag(moments))) or 1.0
    turned = (moments + damping * np.eye(len(moments)))[::-1, ::-1]
    upper = np.linalg.cholesky(turned)[::-1, ::-1]
    return np.ascontiguousarray(upper / np.diag(upper), np.float64)
