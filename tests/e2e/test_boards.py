"""The configs of docs/how-to/boards.md, run as they are, on as many hosts, by the commands that it gives."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from edged.transport.keys import new_pair
from tests.conftest import ROOT
from tests.e2e.pipeline import EDGED, Pipeline, pipeline
from tests.eventually import eventually

pytestmark = pytest.mark.deep

PUBLISHED = "tcp://192.168.1.10:5570"
BOTH = {"local-0+big-1"}
HERE = "tcp://127.0.0.1:5570"
Boards = Callable[..., Any]


@contextmanager
def boards(folder: Path, name: str, *hosts: str) -> Iterator[Pipeline]:
    """The hub runs by this file of configs/."""
    text = (ROOT / f"configs/{name}.yaml").read_text()
    with pipeline(folder, *hosts, config=text) as running:
        new_pair(folder / "hub/keys", "viewer")
        running.start("hub", "run", "--json")
        yield running


def subscribe(running: Pipeline, count: int, address: str = HERE, *, on: str = "hub") -> list[dict[str, Any]]:
    """So many predictions, by `edged subscribe` with the viewer's key."""
    keys = running.folder / "hub/keys"
    command = ("subscribe", "--json", "--count", str(count), "--key", keys / "viewer.key")
    said = running.hosts[on].run(*EDGED, *command, "--server-key", keys / "hub.pub", address)
    return [each for line in said.splitlines() if "seq" in (each := json.loads(line))]


def workers(running: Pipeline, address: str = HERE, *, on: str = "hub") -> set[str]:
    """Who has made the next predictions."""
    return {each["model"]["worker"] for each in subscribe(running, 3, address, on=on)}


def test_one_board(tmp_path: Path) -> None:
    with boards(tmp_path, "demo", "hub") as running:
        said = running.hosts["hub"].run(*EDGED, "subscribe", "--count", "5")
        assert len(said.splitlines()) == 5


def test_cameras_on_one_board_and_a_gpu_on_another(tmp_path: Path) -> None:
    with boards(tmp_path, "cameras-elsewhere", "hub", "gate") as running:
        for name in ("left", "right"):
            running.start(name, "camera", name, on="gate")
        seen = subscribe(running, 20, PUBLISHED, on="gate")
        assert {each["camera"] for each in seen} == {"left", "right"}
        assert all(each["clock_error"] > 0 for each in seen)
        eventually(lambda: workers(running, PUBLISHED, on="gate") == {"local-0"})  # NumPy stands in for it before


def test_two_workers_with_failover(tmp_path: Path) -> None:
    with boards(tmp_path, "failover", "hub", "big") as running:
        running.start("big", "worker", "--host", "big")
        eventually(lambda: workers(running) == {"big-0"})
        with running.hosts["big"].cut_off():
            eventually(lambda: workers(running) == {"local-1"})
            assert 'edged_worker_serving{worker="local-1"} 1.0' in running.metrics()
        eventually(lambda: workers(running) == {"big-0"})
        assert 'edged_switches_total{worker="big-0"}' in running.metrics()


def test_a_split_network(tmp_path: Path) -> None:
    with boards(tmp_path, "split", "hub", "big") as running:
        running.start("big", "worker", "--host", "big")
        eventually(lambda: workers(running) == BOTH)
        running.kill("big")
        eventually(lambda: workers(running) == {"local-2"})
        running.start("big", "worker", "--host", "big")
        eventually(lambda: workers(running) == BOTH)
