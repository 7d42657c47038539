"""Prune and share the weights of a network as far as its accuracy allows, without training.

Pruning has one number, the share of all weights, which is bisected. Codebooks have one size for each layer. At
first all have the largest; then, step by step, that layer gets a smaller one which costs least for the bytes that
it saves. How far to go on this path is bisected, too.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from edged.compress.calibration import second_moments
from edged.compress.codebook import LARGEST, Codebook, compensated, share
from edged.compress.coded_file import huffman_bits
from edged.compress.judge import Judge
from edged.compress.network import Network
from edged.compress.pruning import pruned
from edged.compress.weights import Values, Weights
from edged.errors import ModelError

SIZES = (LARGEST, 192, 128, 96, 64, 48, 32, 24, 16)  # entries
SHARES = tuple(percent / 100 for percent in range(0, 96, 5))  # of all weights that may be pruned
FOR_PRUNING = 0.25  # of the accuracy that may be lost: codebooks save more for the rest

Say = Callable[[str], None]  # shows progress
Codebooks = dict[str, Codebook]  # by weight
Known = Mapping[str, Mapping[int, Codebook]]  # by weight and size, the nearest entry for each value
Sizes = Mapping[str, int]  # entries of each weight's codebook


class Search:
    """Searches the smallest network that loses at most `max_loss` of its accuracy (0 to 1). `say`: progress."""

    def __init__(self, network: Network, judge: Judge, max_loss: float, say: Say) -> None:
        self._network, self._judge, self._max_loss, self._say = network, judge, max_loss, say

    def prune(self) -> dict[str, Values]:
        """Return the weights of which as many are 0 as the accuracy allows."""
        weights = self._network.weights

        def loss(index: int) -> float:
            self._say(f"pruning {SHARES[index]:.0%} of the weights")
            return self._loss(pruned(weights, SHARES[index]))

        index = last_within(len(SHARES), loss, FOR_PRUNING * self._max_loss)
        return pruned(weights, SHARES[index])

    def share(self, weights: Weights) -> Codebooks:
        """Return the codebooks of all weights. Raises ModelError if even the largest ones cost too much."""
        known = {name: {size: share(values, size) for size in SIZES} for name, values in weights.items()}
        compensate = self._compensation(weights, known)
        path = list(steps(known, self._sensitivities(weights, known, compensate)))

        def chosen(index: int) -> Codebooks:
            return {name: compensate(name, size) for name, size in path[index].items()}

        def loss(index: int) -> float:
            self._say(f"codebooks: step {index} of {len(path) - 1}")
            return self._loss({name: codebook.values for name, codebook in chosen(index).items()})

        index = last_within(len(path), loss, self._max_loss)
        if not index and (lost := loss(0)) > self._max_loss:
            raise ModelError(
                f"{self._network.file.path}: loses {100 * lost:.2f} points with codebooks of {LARGEST} entries: "
                f"allow more than --max-loss {100 * self._max_loss:g}"
            )
        return chosen(index)

    def _compensation(self, weights: Weights, known: Known) -> Callable[[str, int], Codebook]:
        """Return a function that computes the codebook of a weight with so many entries, once."""
        self._say("the inputs of each layer")
        graph = self._network.graph(self._network.weights)
        model, model_input = self._network.file.model, self._judge.input
        moments = second_moments(model, self._network.weights, graph, model_input, self._judge.frames)

        @cache
        def compensate(name: str, size: int) -> Codebook:
            codebook = known[name][size]
            return compensated(weights[name], codebook, moments[name]) if name in moments else codebook

        return compensate

    def _sensitivities(
        self, weights: Weights, known: Known, compensate: Callable[[str, int], Codebook]
    ) -> dict[str, float]:
        """Return the divergence of the scores for each unit of error in each weight."""
        found = {}
        start = self._network.measured(self._judge, weights, probe=True).divergence
        for index, (name, books) in enumerate(known.items(), 1):
            self._say(f"sensitivity of layer {index} of {len(known)}")
            smallest = books[SIZES[-1]]
            shared = compensate(name, SIZES[-1]).values
            alone = self._network.measured(self._judge, {**weights, name: shared}, probe=True)
            found[name] = max(alone.divergence - start, 0.0) / smallest.error if smallest.error else 0.0
        return found

    def _loss(self, weights: Weights) -> float:
        return self._judge.accuracy - self._network.measured(self._judge, weights).accuracy


def last_within(count: int, loss: Callable[[int], float], limit: float) -> int:
    """Return the last of the places 0 … count − 1 that loses at most `limit`, as bisection finds it; else 0."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if loss(middle) <= limit:
            low = middle
        else:
            high = middle
    return low


def steps(known: Known, sensitivities: Mapping[str, float]) -> Iterator[Sizes]:
    """Yield the sizes of all codebooks, from the largest to the smallest, in the order of cost by byte saved.

    The cost of a codebook is its error times the sensitivity of its weight.
    """
    sizes = dict.fromkeys(known, SIZES[0])
    yield dict(sizes)
    waiting = [_step(name, books, 1, sensitivities[name]) for name, books in known.items()]
    heapq.heapify(waiting)
    while waiting:
        _, name, index = heapq.heappop(waiting)
        sizes[name] = SIZES[index]
        yield dict(sizes)
        if index + 1 < len(SIZES):
            heapq.heappush(waiting, _step(name, known[name], index + 1, sensitivities[name]))


def _step(name: str, books: Mapping[int, Codebook], index: int, sensitivity: float) -> tuple[float, str, int]:
    """Return the cost for each byte that the codebook at `index` saves, its weight and `index`."""
    before, after = books[SIZES[index - 1]], books[SIZES[index]]
    cost = sensitivity * max(after.error - before.error, 0.0)
    return cost / max(stored_bytes(before) - stored_bytes(after), 1.0), name, index


def stored_bytes(codebook: Codebook) -> float:
    """Return the bytes of indices by a Huffman code, and of the entries."""
    return huffman_bits(codebook.counts.tolist()) / 8 + codebook.entries.nbytes
