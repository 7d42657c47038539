"""One file, three hosts: a hub, a camera and a worker, each with a key of its own, over links that fail."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from edged.keys import new_pair
from tests.cli.models import small_network
from tests.e2e.daemon import SYNTHETIC, conserves
from tests.e2e.hosts import Host, hosts
from tests.e2e.witness import RawSubscriber
from tests.eventually import eventually

START_S = 60.0
BACK_S = 2.0  # from the end of a fault to the next prediction
MAX_AGE_S = 0.5
PARTITIONS_S = [float(each) for each in os.environ.get("EDGED_PARTITIONS", "2").split()]  # all: "2 15 60"


@dataclass
class Pipeline:
    """The processes of three hosts, and what a subscriber sees."""

    hub: Host
    gate: Host
    big: Host
    folder: Path
    seen: RawSubscriber
    processes: dict[str, "subprocess.Popen[str]"] = field(default_factory=dict)

    def start(self, host: Host, *verb: str) -> None:
        command = [
            sys.executable,
            "-m",
            "edged",
            *verb,
            *(() if host is self.hub else ("--config",)),
            self.config(host),
        ]
        if before := self.processes.get(host.name):
            before.wait(START_S)
        state = {"XDG_STATE_HOME": str(self.folder / host.name), "XDG_CACHE_HOME": str(self.folder / "cache")}
        self.processes[host.name] = host.start(command, self.folder / f"{host.name}.log", **state)

    def config(self, host: Host) -> Path:
        """The same for all, but for where each keeps its own key."""
        path = self.folder / f"{host.name}.yaml"
        keys = self.folder / "keys"
        config = {
            "node": "test",
            "cameras": {"yard": {**SYNTHETIC, "host": "gate"}},
            "model": {"path": str(self.folder / "small.onnx")},
            "workers": [{"device": "numpy", "host": "big"}],
            "freshness": {"max_age_s": MAX_AGE_S},
            "link": {"address": f"tcp://{self.hub.address}:5572"},
            "publish": {"address": f"ipc://{self.folder}/pub", "replay": f"ipc://{self.folder}/replay"},
            "security": {
                "key": str(keys / f"{host.name}.key"),
                "hub": str(keys / "hub.pub"),
                "allow": [],
                "cameras": [str(keys / "gate.pub")],
                "workers": [str(keys / "big.pub")],
            },
        }
        path.write_text(json.dumps(config))
        return path

    def goes_on(self, within_s: float = START_S) -> float:
        """Seconds until the next prediction."""
        begin, before = time.monotonic(), len(self.seen.seen)
        eventually(lambda: len(self.seen.seen) > before, within_s)
        return time.monotonic() - begin

    def stop(self) -> dict[str, Any]:
        """The hub's summary."""
        self.processes["hub"].send_signal(signal.SIGTERM)
        assert self.processes["hub"].wait(START_S) == 0, self.log("hub")
        summary: dict[str, Any] = json.loads((self.folder / "hub.out").read_text().splitlines()[-1])
        return summary

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()


@contextmanager
def pipeline(folder: Path) -> Iterator[Pipeline]:
    """All three run, and predictions come."""
    small_network(folder / "small.onnx")
    (folder / "keys").mkdir()
    with hosts("hub", "gate", "big") as (hub, gate, big):
        for host in (hub, gate, big):
            new_pair(folder / "keys", host.name)
        seen = RawSubscriber(f"ipc://{folder}/pub")
        running = Pipeline(hub, gate, big, folder, seen)
        seen.start()
        try:
            running.start(hub, "run", "--json")
            running.start(gate, "camera", "yard")
            running.start(big, "worker", "0")
            running.goes_on()
            yield running
        finally:
            seen.stop()
            for process in running.processes.values():
                process.kill()
                process.wait()
            assert "Traceback" not in "".join(running.log(name) for name in running.processes)


def ages(pipeline: Pipeline) -> list[float]:
    return [json.loads(seen.json)["seconds"]["total"] for seen in pipeline.seen.seen]


def is_whole(pipeline: Pipeline) -> bool:
    """Nothing twice, nothing too old, nothing unaccounted for."""
    numbers = [seen.seq for seen in pipeline.seen.seen]
    assert len(set(numbers)) == len(numbers)
    assert max(ages(pipeline)) <= MAX_AGE_S
    return conserves(pipeline.stop())


def test_a_camera_and_a_worker_on_other_hosts_serve_as_if_they_were_here(tmp_path: Path) -> None:
    with pipeline(tmp_path) as running:
        eventually(lambda: len(running.seen.seen) > 60, START_S)
        last = json.loads(running.seen.seen[-1].json)
        assert 0 < last["clock_error"] < 0.1
        assert all(value >= 0 for value in last["seconds"].values())
        assert last["model"]["worker"] == "big-0"
        assert is_whole(running)


@pytest.mark.parametrize("host", ["gate", "big"])
@pytest.mark.parametrize("seconds", PARTITIONS_S)
def test_a_partition_ends_and_predictions_go_on(tmp_path: Path, host: str, seconds: float) -> None:
    with pipeline(tmp_path) as running:
        with getattr(running, host).cut_off():
            time.sleep(seconds)
        took_s = running.goes_on()
        print(f"{took_s:.2f} s after a partition of {seconds:g} s")
        assert took_s < BACK_S
        assert is_whole(running)


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_lost_packets_cost_frames_and_nothing_else(tmp_path: Path, share: float) -> None:
    with pipeline(tmp_path) as running:
        with running.hub.losing(share):
            before = len(running.seen.seen)
            time.sleep(5)
            print(f"{(len(running.seen.seen) - before) / 5:.1f} predictions a second with {share:.0%} lost")
        assert running.goes_on() < BACK_S
        assert is_whole(running)


def test_a_link_of_ten_megabits_carries_what_it_can_and_the_newest(tmp_path: Path) -> None:
    with pipeline(tmp_path) as running:
        with running.gate.slow("10mbit"):
            before = len(running.seen.seen)
            time.sleep(5)
            assert len(running.seen.seen) > before
        assert running.goes_on() < BACK_S
        assert is_whole(running)


def test_the_hub_is_rebooted(tmp_path: Path) -> None:
    with pipeline(tmp_path) as running:
        running.processes["hub"].kill()
        running.processes["hub"].wait()
        running.start(running.hub, "run", "--json")
        eventually(lambda: "gives frames" in running.log("hub").rpartition("is ready")[2], START_S)
        running.goes_on()
        boots = {seen.boot for seen in running.seen.seen}
        assert len(boots) == 2
        assert is_whole(running)


def test_a_host_that_has_gone_for_good_is_told_and_its_successor_taken(tmp_path: Path) -> None:
    with pipeline(tmp_path) as running:
        running.processes["big"].kill()
        eventually(lambda: "worker big-0 cannot be reached" in running.log("hub"), START_S)
        running.start(running.big, "worker", "0")
        running.goes_on()
        assert is_whole(running)


@pytest.mark.parametrize(("host", "verb", "words"), [
    ("gate", ("worker", "0"), "its key is for camera, not for a worker"),
    ("big", ("camera", "yard"), "its key is for worker, not for a camera"),
])  # fmt: skip
def test_a_key_is_good_for_what_it_was_given_for_alone(
    tmp_path: Path, host: str, verb: tuple[str, ...], words: str
) -> None:
    with pipeline(tmp_path) as running:
        running.processes[host].kill()
        running.start(getattr(running, host), *verb)
        eventually(lambda: words in running.log(host), START_S)
        assert running.processes[host].wait(START_S) != 0
        running.stop()
