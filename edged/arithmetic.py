"""Small formulas that several packages share. Imports nothing but the standard library."""

from collections.abc import Sequence
from statistics import median, quantiles


def ceil_div(dividend: int, divisor: int) -> int:
    """Divide two integers and round up."""
    return -(-dividend // divisor)


def median_and_p99(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile by nearest rank. Raises StatisticsError if there are no values.

    Nearest rank: the smallest value that at least 99 % of all values do not exceed.
    """
    middle = median(values)
    return middle, sorted(values)[ceil_div(99 * len(values), 100) - 1]


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile, by linear interpolation between the values."""
    low, middle, high = quantiles(values, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return low, middle, high
