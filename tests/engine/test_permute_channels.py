"""Channels in another order, permuted by an instruction."""

import numpy as np
import pytest

from edged.engine.variants.channels import PERMUTE_CHANNELS, pack_sources
from edged.model.graph import SelectChannels
from tests.engine.lab import Lab, random

BLOCKS = [8, 16]
SHUFFLED = tuple(part * 29 + index for index in range(29) for part in range(2))  # ShuffleNet's, of halves of 29


def select(order: tuple[int, ...]) -> SelectChannels:
    return SelectChannels("select", ("x",), "y", order)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("order", [SHUFFLED, SHUFFLED[29:], (20, 3, 3, 0, 19), tuple(range(58))[::-1]])
def test_channels_come_in_the_order_that_is_given(lab: Lab, order: tuple[int, ...], block: int) -> None:
    x = random(2, 58, 5, 7)

    found = lab.compute(PERMUTE_CHANNELS, select(order), [x], block=block)

    assert np.array_equal(found, x[:, list(order)])


def test_it_takes_blocks_that_read_few_others_and_no_channels_in_a_row(lab: Lab) -> None:
    x = [random(1, 80, 2, 2)]
    apart, in_a_row = tuple(range(0, 80, 9)), tuple(range(5, 18))
    assert PERMUTE_CHANNELS.can_compute(lab.site(select(SHUFFLED), x, block=8))
    assert not PERMUTE_CHANNELS.can_compute(lab.site(select(apart), x, block=8))
    assert not PERMUTE_CHANNELS.can_compute(lab.site(select(in_a_row), x, block=8))
    assert not PERMUTE_CHANNELS.can_compute(lab.site(select(SHUFFLED), x, block=4))


def test_the_table_has_lanes_and_sources_of_each_block() -> None:
    lanes, which, sources = pack_sources((17, 2, 16, 3, 4), 8)[0]
    assert lanes.tolist() == [1, 2, 0, 3, 4, 0, 0, 0]
    assert which.tolist() == [0, 1, 0, 1, 1, -1, -1, -1]
    assert sources.tolist() == [2, 0, 0, 0, 0, 0, 0, 0]
