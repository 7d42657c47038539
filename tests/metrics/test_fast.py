"""Quick metrics say what prometheus-client's own would."""

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, disable_created_metrics
from prometheus_client.parser import text_string_to_metric_families

from edged.metrics.declare import Declare

NAMES = st.text(max_size=8)
BOUNDS = (0.001, 0.5, 1, 10)

disable_created_metrics()  # type: ignore[no-untyped-call]  # as edged.metrics does


def same(ours: Declare, theirs: CollectorRegistry) -> bool:
    """Whether a reader of the text finds the same samples."""
    return shown(text_string_to_metric_families("".join(ours.text()))) == shown(theirs.collect())


def shown(families: Iterable[Metric]) -> list[tuple[str, dict[str, str], str]]:
    """Samples, with NaN equal to itself."""
    samples = [sample for family in families for sample in family.samples]
    return [(sample.name, sample.labels, repr(float(sample.value))) for sample in samples]


@given(st.lists(st.tuples(NAMES, NAMES, st.floats(0, 1e9))))
def test_a_counter(told: list[tuple[str, str, float]]) -> None:
    declare, registry = Declare(), CollectorRegistry()
    ours = declare.quick_counter("c_total", "Help.", ["a", "b"])
    theirs = Counter("c_total", "Help.", ["a", "b"], registry=registry)
    for first, second, amount in told:
        ours.labels(first, second).inc(amount)
        theirs.labels(first, second).inc(amount)
    assert same(declare, registry)


@given(st.lists(st.tuples(NAMES, st.floats() | st.integers(-9, 9))))
def test_a_gauge(told: list[tuple[str, float]]) -> None:
    declare, registry = Declare(), CollectorRegistry()
    ours = declare.quick_gauge("g", "Help.", ["a"])
    theirs = Gauge("g", "Help.", ["a"], registry=registry)
    for name, value in told:
        ours.labels(name).set(value)
        theirs.labels(name).set(value)
    assert same(declare, registry)


@given(st.lists(st.tuples(NAMES, st.sampled_from(BOUNDS) | st.floats(0, 20))))
def test_a_histogram(told: list[tuple[str, float]]) -> None:
    declare, registry = Declare(), CollectorRegistry()
    ours = declare.quick_histogram("h", "Help.", ["a"], BOUNDS)
    theirs = Histogram("h", "Help.", ["a"], registry=registry, buckets=BOUNDS)
    for name, value in told:
        ours.labels(name).observe(value)
        theirs.labels(name).observe(value)
    assert same(declare, registry)


def test_a_label_is_what_it_is_called_of_whatever_type() -> None:
    counter = Declare().quick_counter("jobs_total", "Help.", ["frames"])
    counter.labels(4).inc()
    counter.labels("4").inc()
    [family] = counter.collect()
    assert [(sample.labels, sample.value) for sample in family.samples] == [({"frames": "4"}, 2)]


def test_what_is_removed_is_shown_no_more() -> None:
    gauge = Declare().quick_gauge("up", "Help.", ["camera"])
    gauge.labels("door").set(1)
    gauge.labels("gate").set(math.inf)
    gauge.remove("door")
    gauge.remove("yard")
    assert "".join(gauge.now()()).splitlines()[2:] == ['up{camera="gate"} +Inf']


def test_labels_that_are_too_few_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Declare().quick_gauge("up", "Help.", ["camera", "host"]).labels("door")
