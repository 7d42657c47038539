"""Share the weights of a layer: each is replaced by the nearest entry of a codebook, found by k-means."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.compress.weights import Values

LARGEST = 256  # entries: an index fits a byte
STEPS = 60  # of k-means: it has converged long before

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Codebook:
    """entries: [k], the most frequent one first; indices: uint8, of the weight's shape. `error`: mean square."""

    entries: Values
    indices: NDArray[np.uint8]
    error: float

    @property
    def values(self) -> Values:
        """Return the shared weight."""
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
        places = np.concatenate([[0], inner, [ordered.size]])
        sizes = np.diff(places)
        moved = np.where(sizes > 0, np.diff(sums[places]) / np.maximum(sizes, 1), means)
        if np.array_equal(moved, means):
            break
        means = np.sort(moved)
    return means


def assigned(values: Values, entries: Values) -> Codebook:
    """Return a codebook of the nearest of the ascending `entries` for each value; unused entries are dropped."""
    nearest = nearest_entry(values.reshape(-1), entries)
    counts = np.bincount(nearest, minlength=len(entries))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    places = np.zeros(len(entries), np.uint8)
    places[order] = np.arange(len(order))
    difference = entries[nearest].astype(np.float64) - values.reshape(-1)
    error = float(np.mean(np.square(difference)))
    return Codebook(entries[order], places[nearest].reshape(values.shape), error)


def nearest_entry(values: NDArray[Any], entries: Values) -> NDArray[np.intp]:
    """Return the index of the nearest of the ascending `entries` for each value."""
    middles = (entries[1:].astype(np.float64) + entries[:-1]) / 2
    return np.searchsorted(middles, values)
