"""Matrix products of two computed tensors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edged.engine.variants.dense import PRODUCT
from edged.model import reference
from edged.model.graph import Product
from tests.engine.lab import BLOCKS, Lab, assert_close, random

SIZES = [(5, 3, 2, 7), (64, 3, 17, 17), (17, 1, 21, 33), (1, 4, 1, 1), (20, 2, 40, 3)]  # of k, rows, m, n
LARGE, SMALL = st.tuples(*[st.integers(1, 40)] * 2), st.tuples(*[st.integers(1, 9)] * 2)


def assert_multiplies(lab: Lab, k: int, rows: int, m: int, n: int, block: int = 4) -> None:
    product = Product("product", ("a", "b"), "y", 0.25)
    a, b = random(2, k, rows, m), random(2, n, rows, k)

    found = lab.compute(PRODUCT, product, [a, b], block=block)

    assert_close(found, reference.compute(product, a.astype(np.float64), b.astype(np.float64)))


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("sizes", SIZES)
def test_each_row_is_a_product_of_its_own(lab: Lab, sizes: tuple[int, int, int, int], block: int) -> None:
    assert_multiplies(lab, *sizes, block=block)


@pytest.mark.deep
@settings(max_examples=20)  # each is compiled
@given(LARGE, SMALL)
def test_matrices_of_any_size(lab: Lab, large: tuple[int, int], small: tuple[int, int]) -> None:
    assert_multiplies(lab, large[0], small[0], small[1], large[1])


@pytest.mark.deep
@settings(max_examples=100)
@given(LARGE, SMALL)
def test_matrices_of_many_sizes(lab: Lab, large: tuple[int, int], small: tuple[int, int]) -> None:
    assert_multiplies(lab, large[0], small[0], small[1], large[1])


def test_all_tiles_give_the_same(lab: Lab) -> None:
    product = Product("product", ("a", "b"), "y")
    a, b = random(1, 18, 2, 11), random(1, 9, 2, 18)
    site = lab.site(product, [a, b])

    found = [lab.compute(PRODUCT, product, [a, b], parameters=each) for each in PRODUCT.parameters(site)[:6]]

    assert all(np.array_equal(each, found[0]) for each in found)
