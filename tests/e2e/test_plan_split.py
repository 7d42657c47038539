"""`edged plan-split` with real workers: it measures, predicts and tries, and what it prints can be used."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from edged.config.load import load_config
from tests.cli.command import DEVICES, edged
from tests.cli.models import small_network
from tests.e2e.daemon import SYNTHETIC, run_edged
from tests.eventually import LIMIT_S, eventually, free_port

TITLES = [
    "local-0 alone",
    "local-1 alone",
    "side by side, unsplit",
    "split, best throughput",
    "split, best latency",
]


def config_of(folder: Path, *workers: dict[str, Any], **sections: Any) -> Path:
    path = folder / "edged.yaml"
    path.write_text(json.dumps({"node": "test", "cameras": {"demo": SYNTHETIC}, "workers": workers, **sections}))
    return path


@pytest.mark.deep
@pytest.mark.parametrize("device", DEVICES)
def test_two_workers_are_measured_and_each_way_is_tried(tmp_path: Path, device: str) -> None:
    worker = {"device": device, "threads": 1}
    model = {"path": str(small_network(tmp_path / "small.onnx"))}
    path = config_of(tmp_path, worker, worker, model=model)

    done = edged("plan-split", path, "--duration", "0.2", "--try", "--json")

    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert plan["workers"].keys() == {"local-0", "local-1"}
    names = [place["after"] for place in plan["workers"]["local-0"]["cut_points"]]
    assert names == [None, "a", "c", None]
    for way, title in zip(plan["ways"], TITLES, strict=False):
        assert way["title"].startswith(title)
        assert all(end in names[1:-1] for end in (part["end"] for part in way["parts"][:-1]))
        for what in ("frames_per_s", "latency_s"):
            assert way["measured"][what] / way["predicted"][what] > 0
    assert len(plan["ways"][3]["parts"]) == 2

    used = tmp_path / "split.yaml"
    used.write_text(f"cameras: {{demo: {json.dumps(SYNTHETIC)}}}\nmodel: {model}\n{plan['config']}\n")
    config = load_config(used)
    assert [config.ends_of(0)[1], config.ends_of(1)[1]] == [plan["ways"][3]["parts"][0]["end"], None]


@pytest.mark.deep
def test_a_person_is_shown_a_table_and_the_lines_for_the_config(tmp_path: Path) -> None:
    path = config_of(tmp_path, {"device": "numpy"}, {"device": "numpy"}, {"device": "numpy"})

    done = edged("plan-split", path, "--duration", "0.1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("digits 120×120, 1 frame a job\nlocal-0: NumPy, fp32; its link: ")
    assert "a single cut there" in done.stdout
    assert "\nworkers:\n  - {device: numpy, group: local-" in done.stdout
    assert "\nsegments:\n  - {until: " in done.stdout
    assert "measured" not in done.stdout


def test_a_worker_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = config_of(tmp_path, {"device": "numpy"}, {"device": "numpy", "host": "big"})

    done = edged("plan-split", path, "--wait", "1")

    assert done.returncode == 3
    assert "edged: waiting for local-0, big-1\n" in done.stderr
    assert "big-1: not connected within 1 s" in done.stderr


def test_a_single_worker_is_no_team(tmp_path: Path) -> None:
    done = edged("plan-split", config_of(tmp_path, {"device": "numpy"}))
    assert done.returncode == 2
    assert "has 1 groups" in done.stderr


@pytest.mark.deep
def test_beside_a_hub_that_runs_it_says_so(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        path = tmp_path / "edged.yaml"
        path.write_text(json.dumps({**daemon.config, "workers": [{"device": "numpy"}, {"device": "numpy"}]}))
        done = edged("plan-split", path, env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert "another edged with the same journal runs" in done.stderr


@pytest.mark.deep
def test_ctrl_c_while_it_tries_gives_each_worker_its_own_part_back(tmp_path: Path) -> None:
    path = config_of(
        tmp_path,
        {"device": "numpy"},
        {"device": "numpy", "host": "big"},
        model={"path": str(small_network(tmp_path / "small.onnx"))},
        link={"address": f"tcp://127.0.0.1:{free_port()}"},
    )
    said = tmp_path / "worker.log"
    with (
        background("worker", "1", "--config", path, log=said) as worker,
        background("plan-split", path, "--duration", "1", "--try", log=tmp_path / "plan.log") as plan,
    ):
        eventually(lambda: "to the scores" in said.read_text() or "from the images" in said.read_text())
        plan.send_signal(signal.SIGINT)
        assert plan.wait(LIMIT_S) == 128 + signal.SIGINT
        eventually(lambda: said.read_text().endswith("worker big-1 runs small: all of it\n"))
        assert worker.poll() is None


@contextmanager
def background(*arguments: str | Path, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """`edged …` that goes on, with its messages in a file."""
    with log.open("w") as stderr:
        process = subprocess.Popen([sys.executable, "-m", "edged", *map(str, arguments)], stderr=stderr)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert "Traceback" not in log.read_text()
