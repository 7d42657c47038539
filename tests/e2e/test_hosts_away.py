"""Hosts that lose their power, and come back."""

import signal
import time
from pathlib import Path

import psutil

from tests.e2e.pipeline import PORT, START_S, THREE, Pipeline, three_hosts
from tests.eventually import eventually

BACK_S = 2.0  # from the end of a fault to the next prediction
TOLD_S = 5.0  # a camera that says nothing is down within 3 s; a machine that is busy says so later


def power_cut(running: Pipeline, name: str) -> None:
    """All of it at once; nobody is told."""
    with running.hosts[name].unplugged():
        running.kill(name)


def listens(running: Pipeline) -> bool:
    """Whether the hub has opened its door to other hosts."""
    pid = running.processes["hub"].pid
    return f":{PORT:04X} 00000000:0000 0A" in Path(f"/proc/{pid}/net/tcp").read_text()


def test_the_hubs_host_is_rebooted(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        power_cut(running, "hub")
        running.start("hub", *THREE["hub"])
        eventually(lambda: listens(running), START_S)
        took_s = running.goes_on()
        print(f"the first prediction came {took_s:.2f} s after the new hub had begun to listen")
        assert took_s < BACK_S
        assert len({seen.boot for seen in running.seen.seen}) == 2
        running.goes_on()
        assert running.is_whole()


def test_the_hub_is_started_again_on_a_host_that_stays_up(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        running.kill("hub")
        running.start("hub", *THREE["hub"])
        eventually(lambda: listens(running), START_S)
        assert running.goes_on() < BACK_S
        running.goes_on()
        assert running.is_whole()


def test_a_workers_host_has_gone_and_another_one_takes_its_place(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        power_cut(running, "big")
        eventually(lambda: "worker_lost" in {each["event"] for each in running.seen.events}, START_S)
        assert 'edged_worker_serving{worker="big-0"} 0.0' in running.metrics()
        running.start("big", *THREE["big"])
        assert running.says("big", "worker big-0 runs")
        assert running.goes_on() < BACK_S
        assert running.is_whole()


def test_a_cameras_host_has_gone_is_told_and_comes_back(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        begin = time.monotonic()
        power_cut(running, "gate")
        assert running.says("hub", "camera yard is down")
        assert time.monotonic() - begin < TOLD_S
        assert 'edged_camera_up{camera="yard"} 0.0' in running.metrics()
        running.start("gate", *THREE["gate"])
        running.goes_on()
        eventually(lambda: 'edged_camera_up{camera="yard"} 1.0' in running.metrics(), START_S)
        assert running.is_whole()


def test_a_worker_that_stands_still_is_given_up_and_taken_again(tmp_path: Path) -> None:
    with three_hosts(tmp_path) as running:
        worker = psutil.Process(running.processes["big"].pid)
        worker.send_signal(signal.SIGSTOP)
        assert running.says("hub", "worker big-0 held a job past its deadline; it is waited for")
        worker.send_signal(signal.SIGCONT)
        assert running.goes_on() < BACK_S
        assert running.is_whole()
