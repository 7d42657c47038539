"""Formulas that several packages share."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edged.arithmetic import ceil_div, median_and_p99


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_a_division_is_rounded_up(dividend: int, divisor: int) -> None:
    assert ceil_div(dividend, divisor) == ceil(dividend / divisor)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], (3.0, 3.0)),
        ([2.0, 1.0], (1.5, 2.0)),
        ([float(value) for value in range(100, 0, -1)], (50.5, 99.0)),
        ([float(value) for value in range(1, 1001)], (500.5, 990.0)),
    ],
)
def test_the_99th_percentile_is_a_value_that_was_measured(
    values: list[float], expected: tuple[float, float]
) -> None:
    assert median_and_p99(values) == expected


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300))
def test_at_least_99_percent_of_all_values_do_not_exceed_the_99th_percentile(values: list[float]) -> None:
    _, p99 = median_and_p99(values)
    assert sum(value <= p99 for value in values) >= 0.99 * len(values)
