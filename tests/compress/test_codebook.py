"""Pruning, codebooks and the Huffman bound: pure functions of weights."""

import numpy as np
import pytest

from edged.compress.codebook import share
from edged.compress.coded_file import huffman_bits
from edged.compress.pruning import pruned
from edged.compress.search import last_within

WEIGHT = np.random.default_rng(1).normal(size=(16, 8, 3, 3)).astype(np.float32)


def test_weights_in_groups_get_the_means_of_the_groups() -> None:
    values = np.array([[1.0, 1.2], [5.0, 5.2], [9.0, 9.2]], np.float32)

    found = share(values, 3)

    assert np.allclose(found.values, [[1.1, 1.1], [5.1, 5.1], [9.1, 9.1]])
    assert found.error == pytest.approx(0.01, rel=1e-3)


def test_more_entries_make_the_error_smaller() -> None:
    errors = [share(WEIGHT, count).error for count in (4, 16, 64, 256)]

    assert errors == sorted(errors, reverse=True)
    assert len(share(WEIGHT, 256).entries) <= 256


def test_pruned_weights_stay_zero_and_the_most_frequent_entry_is_the_first() -> None:
    weights = pruned({"weight": WEIGHT}, 0.7)

    found = share(weights["weight"], 16)

    assert found.entries[0] == 0
    assert (found.values[weights["weight"] == 0] == 0).all()
    assert (np.diff(found.counts) <= 0).all()


def test_entries_become_the_means_of_weights_that_have_moved() -> None:
    found = share(np.array([0.0, 0.0, 2.0, 4.0], np.float32), 2)

    moved = found.refitted(np.array([0.3, -0.1, 5.0, 7.0], np.float32))

    assert moved.values.tolist() == [0, 0, 6, 6]


def test_pruning_removes_the_share_and_never_a_whole_layer() -> None:
    weights = {"large": 100 * WEIGHT, "small": 0.01 * WEIGHT[:1]}

    found = pruned(weights, 0.9)

    zeros = sum(int((values == 0).sum()) for values in found.values())
    assert zeros == int(0.9 * sum(values.size for values in weights.values()))
    assert all(values.any() for values in found.values())
    large = np.abs(weights["large"][found["large"] == 0])
    assert large.max() <= np.abs(found["large"][found["large"] != 0]).min()


def test_nothing_is_pruned_for_a_share_of_zero() -> None:
    assert np.array_equal(pruned({"weight": WEIGHT}, 0.0)["weight"], WEIGHT)


@pytest.mark.parametrize(
    ("counts", "bits"),
    [([45, 13, 12, 16, 9, 5], 224), ([8], 0), ([], 0), ([4, 4], 8), ([3, 0, 3], 6)],  # the first: CLRS, 16.3
)
def test_the_huffman_bound(counts: list[int], bits: int) -> None:
    assert huffman_bits(counts) == bits


def test_bisection_finds_the_last_place_within_the_limit() -> None:
    assert [last_within(10, lambda place: place / 10, limit) for limit in (-1, 0, 0.31, 2)] == [0, 0, 3, 9]
