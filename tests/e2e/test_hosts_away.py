"""Hosts that lose their power, and come back."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.pipeline import PORT, THREE, Pipeline, three_hosts
from tests.eventually import eventually

pytestmark = pytest.mark.deep

BACK_S = 2.0  # from the end of a fault to the next prediction
TOLD_S = 5.0  # from the end of a camera's host to the event: the hub waits 2.5 s for a word


def power_cut(running: Pipeline, name: str) -> None:
    """All of it at once; nobody is told."""
    with running.hosts[name].unplugged():
        running.kill(name)


def listens(running: Pipeline) -> bool:
    """Whether the hub has opened its door to other hosts."""
    pid = running.processes["hub"].pid
    return f":{PORT:04X} 00000000:0000 0A" in Path(f"/proc/{pid}/net/tcp").read_text()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """The same three hosts for all. What befalls the hub comes first: the last one accounts for its frames."""
    with three_hosts(tmp_path_factory.mktemp("away")) as running:
        yield running
        assert running.is_whole()


def boots(running: Pipeline) -> int:
    """How many hubs have published."""
    return len({seen.boot for seen in running.seen.seen})


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_the_hubs_host_is_rebooted(running: Pipeline) -> None:
    power_cut(running, "hub")
    running.start("hub", *THREE["hub"])
    eventually(lambda: listens(running))
    took_s = running.goes_on()
    print(f"the first prediction came {took_s:.2f} s after the new hub had begun to listen")
    assert took_s < BACK_S
    assert boots(running) == 2
    running.goes_on()


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_the_hub_is_started_again_on_a_host_that_stays_up(running: Pipeline) -> None:
    running.kill("hub")
    running.start("hub", *THREE["hub"])
    eventually(lambda: listens(running))
    assert running.goes_on() < BACK_S
    running.goes_on()


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_a_workers_host_has_gone_and_another_one_takes_its_place(running: Pipeline) -> None:
    said, heard = len(running.log("big")), len(running.seen.events)
    power_cut(running, "big")
    eventually(lambda: "worker_lost" in {each["event"] for each in running.seen.events[heard:]})
    eventually(lambda: 'edged_worker_serving{worker="big-0"} 0.0' in running.metrics())
    running.start("big", *THREE["big"])
    assert running.says("big", "worker big-0: model", after=said)
    assert running.goes_on() < BACK_S


@pytest.mark.promise("a camera whose host has gone is down within 5 s")
def test_a_camera_whose_host_has_gone_is_down_within_5_s_and_comes_back(running: Pipeline) -> None:
    eventually(lambda: 'edged_camera_up{camera="yard"} 1.0' in running.metrics())
    said = len(running.log("hub"))
    power_cut(running, "gate")
    assert running.seconds_until(lambda: "camera yard is down" in running.log("hub")[said:]) < TOLD_S
    eventually(lambda: 'edged_camera_up{camera="yard"} 0.0' in running.metrics())
    running.start("gate", *THREE["gate"])
    running.goes_on()
    eventually(lambda: 'edged_camera_up{camera="yard"} 1.0' in running.metrics())


@pytest.mark.promise("predictions go on within 2 s of the end of a fault")
def test_a_worker_that_stands_still_is_given_up_and_taken_again(running: Pipeline) -> None:
    worker, said = psutil.Process(running.processes["big"].pid), len(running.log("hub"))
    worker.send_signal(signal.SIGSTOP)
    assert running.says("hub", "worker big-0 held a job past its deadline; it is waited for", after=said)
    worker.send_signal(signal.SIGCONT)
    assert running.goes_on() < BACK_S
