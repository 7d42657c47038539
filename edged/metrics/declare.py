"""Declare metrics: name, help and labels, in the registry of one hub."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary, generate_latest

from edged.metrics.fast import Family, HistogramSeries, ScalarSeries

# From 1 ms to 10 s, densest at the stages of a frame.
SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5, 10)
JOULES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)

F = TypeVar("F", Family[ScalarSeries], Family[HistogramSeries])


class Declare:
    """Makes metrics: prometheus-client's, or fast ones (see `fast`). `registry` has them all."""

    def __init__(self) -> None:
        self.library = CollectorRegistry()
        self.registry = CollectorRegistry()
        self.registry.register(self.library)
        self._quick: list[Family[ScalarSeries] | Family[HistogramSeries]] = []
        self.counter = partial(Counter, registry=self.library)
        self.gauge = partial(Gauge, registry=self.library)
        self.summary = partial(Summary, registry=self.library)
        self.histogram = partial(Histogram, buckets=SECONDS, registry=self.library)

    def quick_counter(self, name: str, documentation: str, labels: Sequence[str]) -> Family[ScalarSeries]:
        """Declare a counter that only the hub's thread increases."""
        return self._add(Family("counter", name, documentation, labels, ScalarSeries))

    def quick_gauge(self, name: str, documentation: str, labels: Sequence[str]) -> Family[ScalarSeries]:
        """Declare a gauge that only the hub's thread sets."""
        return self._add(Family("gauge", name, documentation, labels, ScalarSeries))

    def quick_histogram(
        self, name: str, documentation: str, labels: Sequence[str], bounds: Sequence[float] = SECONDS
    ) -> Family[HistogramSeries]:
        """Declare a histogram that only the hub's thread fills. `bounds`: of the buckets, without infinity."""
        new = partial(HistogramSeries, bounds=bounds)
        return self._add(Family("histogram", name, documentation, labels, new))

    def now(self) -> Callable[[], Iterator[str]]:
        """Return all metrics in Prometheus' text format, in pieces; the last takes longest.

        The fast ones are copied now and formatted later, in any thread. The others, which do not count frames, are
        read when they are formatted.
        """
        return partial(self._pieces, [family.now() for family in self._quick])

    def text(self) -> Iterator[str]:
        """Write all metrics in Prometheus' text format, in pieces."""
        return self.now()()

    def _pieces(self, families: Sequence[Callable[[], Iterator[str]]]) -> Iterator[str]:
        for write in families:
            yield from write()
        yield generate_latest(self.library).decode()

    def _add(self, family: F) -> F:
        self._quick.append(family)
        self.registry.register(family)
        return family
