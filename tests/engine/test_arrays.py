"""Tensors as arrays."""

import numpy as np
import pytest

from edged.engine.layout import Element, Halo, Tensor, from_memory, to_memory


@pytest.mark.parametrize("element", Element)
def test_what_goes_into_memory_comes_back(element: Element) -> None:
    lowest = -9 if element is Element.BYTE else 0
    tensor = Tensor("x", 2, 5, 3, 4, block=4, halo=Halo(1, 2, 0, 1), element=element, lowest=lowest)
    x = np.arange(2 * 5 * 3 * 4, dtype=np.float32).reshape(2, 5, 3, 4)
    memory = to_memory(tensor, x)

    assert memory.nbytes == tensor.nbytes
    np.testing.assert_array_equal(from_memory(tensor, memory), x)


@pytest.mark.parametrize("place", [(0, 0, 0, 0, 0), (0, 1, 1, 2, 1)], ids=["halo", "channel beyond the last"])
def test_an_answer_with_dirt_around_it_is_none(place: tuple[int, ...]) -> None:
    tensor = Tensor("x", 1, 5, 3, 4, block=4, halo=Halo(1, 2, 0, 1))
    memory = to_memory(tensor, np.ones((1, 5, 3, 4), np.float32))
    memory[place] = np.nan

    assert from_memory(tensor, memory) is None
