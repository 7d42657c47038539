"""What the hub gathers under load, and that it delays nothing else."""

from edged.clock import NANOSECONDS
from edged.hub.hub import SPAN_NS, Load

LITTLE = 240 * SPAN_NS // NANOSECONDS  # eight cameras: frames and answers of one span
MUCH = 3840 * SPAN_NS // NANOSECONDS  # 64 cameras


def test_a_hub_of_a_few_cameras_gathers_nothing() -> None:
    load = Load(0)
    for span in range(1, 5):
        load.count(LITTLE, span * SPAN_NS)
        assert not load.is_high


def test_a_hub_of_many_cameras_gathers_until_there_are_few_messages_again() -> None:
    load = Load(0)
    load.count(MUCH, SPAN_NS)
    assert load.is_high
    load.count(LITTLE, 2 * SPAN_NS)
    assert not load.is_high


def test_a_burst_that_is_shorter_than_a_span_is_not_judged_before_its_end() -> None:
    load = Load(0)
    load.count(MUCH, SPAN_NS // 2)
    assert not load.is_high
    load.count(0, 10 * SPAN_NS)
    assert not load.is_high
