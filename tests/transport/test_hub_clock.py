"""The estimate of the clocks of a hub on another host."""

import random

from edged.clock import NANOSECONDS, now_ns, wall_s
from edged.transport.hub_clock import HubClock

MILLISECOND = 1_000_000
AHEAD_NS = 3_600 * NANOSECONDS + 12_345


def ask(clock: HubClock, there_ns: int, back_ns: int) -> None:
    """A round trip that has just ended, to a hub whose clock is ahead."""
    received_ns = now_ns()
    sent_ns = received_ns - there_ns - back_ns
    clock.add_answer(sent_ns, sent_ns + there_ns + AHEAD_NS, wall_s() + 60, received_ns)


def test_on_the_hubs_own_host_there_is_one_clock() -> None:
    clock = HubClock(same_host=True)
    assert clock.is_known
    assert clock.to_hub_time(5, 6.0) == (5, 6.0, 0)


def test_what_it_says_is_never_further_off_than_it_says_whatever_the_ways_take() -> None:
    chance = random.Random(1)  # noqa: S311
    clock = HubClock(same_host=False)
    assert not clock.is_known
    for _ in range(100):
        ask(clock, chance.randrange(50 * MILLISECOND), chance.randrange(50 * MILLISECOND))
        hub_ns, _, error_ns = clock.to_hub_time(10**15, 0.0)
        assert abs(hub_ns - (10**15 + AHEAD_NS)) <= error_ns


def test_the_quickest_of_the_last_round_trips_counts() -> None:
    clock = HubClock(same_host=False)
    ask(clock, 2 * MILLISECOND, 0)
    for _ in range(5):
        ask(clock, 40 * MILLISECOND, 0)
    assert clock.to_hub_time(0, 0.0)[2] < 2 * MILLISECOND


def test_the_wall_clock_is_the_hubs_too() -> None:
    clock = HubClock(same_host=False)
    ask(clock, MILLISECOND, MILLISECOND)
    assert abs(clock.to_hub_time(0, 1000.0)[1] - 1060.0) < 0.01
