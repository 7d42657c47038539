"""How a metric is declared: name, help and labels, in the registry of one hub."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

# From 1 ms to 10 s, closest where a frame's stages lie.
SECONDS = (0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5, 10)
JOULES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)


class Declare:
    """Puts metrics into a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.counter = partial(Counter, registry=registry)
        self.gauge = partial(Gauge, registry=registry)
        self.histogram = partial(Histogram, buckets=SECONDS, registry=registry)
