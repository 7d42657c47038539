"""Links between hosts that lose, hold up or refuse what they carry, and work again."""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.e2e.daemon import SYNTHETIC
from tests.e2e.pipeline import THREE, Pipeline, three_hosts
from tests.eventually import eventually

pytestmark = pytest.mark.deep

BACK_S = 2.0  # from the end of a fault to the next prediction
LINK_FULL = 'edged_frames_dropped_total{camera="yard",reason="link_full"}'
SEEN = 60  # predictions while there is a fault
ASKED = os.environ.get("EDGED_PARTITIONS", "").split()  # "2 15 60": seconds, of each host; minutes more
PARTITIONS = [(each, float(long)) for long in ASKED for each in THREE] or [("gate", 2), ("big", 2), ("hub", 4)]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The same three hosts for one fault after another."""
    with three_hosts(tmp_path_factory.mktemp("links")) as running:
        yield running
        assert running.is_whole()


def rate(running: Pipeline) -> float:
    """Predictions a second, of the next that come."""
    start = time.monotonic()
    running.goes_on(SEEN)
    return SEEN / (time.monotonic() - start)


def goes_on_within(running: Pipeline, seconds: float) -> bool:
    took_s = running.goes_on()
    print(f"the next prediction came {took_s:.2f} s after the end of the fault")
    return took_s < seconds


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
@pytest.mark.parametrize(("host", "seconds"), PARTITIONS)
def test_a_partition_ends_and_predictions_go_on(running: Pipeline, host: str, seconds: float) -> None:
    with running.hosts[host].cut_off():
        time.sleep(seconds)
    assert goes_on_within(running, BACK_S)


@contextmanager
def everywhere(running: Pipeline, share: float) -> Iterator[None]:
    """Each host loses so many of the packets that come in: of each way the same share."""
    with ExitStack() as stack:
        for host in running.hosts.values():
            stack.enter_context(host.losing(share))
        yield


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
@pytest.mark.parametrize("share", [0.05, 0.2])
def test_lost_packets_cost_frames_and_nothing_else(running: Pipeline, share: float) -> None:
    with everywhere(running, share):
        seen = rate(running)
    print(f"{seen:.1f} predictions a second with {share:.0%} of the packets lost")
    assert goes_on_within(running, BACK_S)


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_a_link_of_ten_megabits_carries_what_it_can_and_the_newest(tmp_path: Path) -> None:
    cameras = {"yard": {**SYNTHETIC, "host": "gate", "fps": 60}}
    with three_hosts(tmp_path, side=120, cameras=cameras) as running:  # 21 megabits a second
        with running.hosts["gate"].slow("10mbit"):
            seen = rate(running)
            eventually(lambda: LINK_FULL in running.metrics())
        print(f"{seen:.1f} predictions a second")
        assert seen < 35
        assert goes_on_within(running, BACK_S)
        assert running.is_whole()
        assert running.summary["dropped"]["link_full"] > 0


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_a_link_that_takes_a_tenth_of_a_second_is_no_fault(running: Pipeline) -> None:
    with running.hosts["gate"].far("100ms"):
        running.goes_on(SEEN)
    assert goes_on_within(running, BACK_S)
