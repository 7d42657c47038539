"""Fast counters, gauges and histograms, for those that each frame or each camera updates.

prometheus-client's own take 7 µs a series to write: with 64 cameras 100 ms, during which the hub, whose thread
needs the same lock, is delayed repeatedly. Each of these keeps its text, and only fills in the values.
They are counted by one thread alone, the hub's, and read by others.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

CHUNK = 64  # series that are written at once


class Series(Protocol):
    """One time series of a family, with its labels."""

    def state(self) -> Any:
        """Return a copy of the values, quickly: the hub's loop waits for it."""
        ...

    def text(self, state: Any) -> str:
        """Format such a state as lines of text; slower, in any thread."""
        ...


C = TypeVar("C", bound=Series)


class ScalarSeries:
    """One series of a counter or a gauge."""

    __slots__ = ("_head", "_value")

    def __init__(self, name: str, labels: str) -> None:
        self._head = f"{name}{{{labels}}}"
        self._value = 0.0

    def inc(self, amount: float = 1.0) -> None:
        self._value += amount

    def set(self, value: float) -> None:
        self._value = float(value)

    def state(self) -> float:
        return self._value

    def text(self, state: float) -> str:
        """Format the value as a line."""
        return f"{self._head} {_number(state)}\n"


class HistogramSeries:
    """One series of a histogram."""

    __slots__ = ("_bounds", "_counts", "_sum", "_template")

    def __init__(self, name: str, labels: str, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0
        edges = [_number(bound) for bound in (*bounds, math.inf)]
        lines = [f'{name}_bucket{{{labels},le="{edge}"}}' for edge in edges]
        lines += [f"{name}_count{{{labels}}}", f"{name}_sum{{{labels}}}"]
        self._template = "".join(f"{line.replace('%', '%%')} %s\n" for line in lines)

    def observe(self, value: float) -> None:
        """Count a value in its bucket."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def state(self) -> tuple[list[int], float]:
        """Return the counts of all buckets, and the sum of the values."""
        return self._counts.copy(), self._sum

    def text(self, state: tuple[list[int], float]) -> str:
        """Return a line a bucket, count and sum."""
        counts = tuple(accumulate(state[0]))
        return self._template % (*counts, counts[-1], _number(state[1]))


class Family(Collector, Generic[C]):
    """All series of one metric, by labels."""

    def __init__(
        self,
        kind: str,
        name: str,
        documentation: str,
        labelnames: Sequence[str],
        new: Callable[[str, str], C],
    ) -> None:
        """`new`: makes a series from its name and its labels in text form."""
        self.labelnames = tuple(labelnames)
        self._name = name
        self._new = new
        self._head = f"# HELP {name} {documentation}\n# TYPE {name} {kind}\n"
        self._children: dict[tuple[str, ...], C] = {}

    def labels(self, *values: object) -> C:
        """Return the series with these labels; a new one starts at 0."""
        key = tuple(map(str, values))
        child = self._children.get(key)
        if child is None:
            pairs = zip(self.labelnames, key, strict=True)
            written = ",".join(f'{label}="{_escaped(value)}"' for label, value in pairs)
            child = self._children[key] = self._new(self._name, written)
        return child

    def remove(self, *values: object) -> None:
        """Remove the series with these labels."""
        self._children.pop(tuple(map(str, values)), None)

    def now(self) -> Callable[[], Iterator[str]]:
        """Return a function that writes the current values in Prometheus' text format, in pieces."""
        children = list(self._children.values())
        return partial(self._pieces, children, [child.state() for child in children])

    def collect(self) -> Iterable[Metric]:
        """Return the current values as prometheus-client wants them."""
        return text_string_to_metric_families("".join(self.now()()))

    def _pieces(self, children: Sequence[C], states: Sequence[Any]) -> Iterator[str]:
        yield self._head
        for first in range(0, len(children), CHUNK):
            chunk = slice(first, first + CHUNK)
            yield "".join(child.text(state) for child, state in zip(children[chunk], states[chunk], strict=True))


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]
