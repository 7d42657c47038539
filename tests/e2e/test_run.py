"""`edged run` from its start to its end."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.cli.command import edged
from tests.e2e.daemon import SYNTHETIC, config_in, conserves, run_edged
from tests.eventually import LIMIT_S, eventually
from tests.given_time import GivenTime

HUB_MUST_NOT_LOAD = ("numpy", "cv2", "opencv", "pyopencl", "libOpenCL", "onnx")


def test_it_ends_by_itself_after_so_many_predictions_and_accounts_for_every_frame(tmp_path: Path) -> None:
    with run_edged(tmp_path, "--count", "50") as daemon:
        summary = daemon.end()
    assert summary["predictions"] == 50
    assert conserves(summary)
    assert 0 <= summary["accuracy"] <= 1
    assert summary["seconds"].keys() >= {"capture", "forward", "publish", "total"}
    assert summary["seconds"]["total"]["median"] <= summary["seconds"]["total"]["p99"]
    assert summary["energy"].keys() >= {"joules", "method", "per_prediction"}


def test_every_log_line_of_every_process_is_json_where_the_config_says_so(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path) | {"log": {"format": "json"}}))
    done = edged(
        "run",
        tmp_path / "edged.yaml",
        "--count",
        5,
        env={"EDGED_LOG_LEVEL": "debug", "XDG_STATE_HOME": str(tmp_path)},
    )
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert len({entry["pid"] for entry in entries}) > 1  # the hub's and others
    assert {"time", "level", "logger", "message", "pid"} == set.intersection(*map(set, entries))


def test_a_summary_for_people(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path)))
    done = edged("run", tmp_path / "edged.yaml", "--count", 5, env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 0
    assert "5 predictions of" in done.stdout
    assert "median" in done.stdout


@pytest.mark.deep
def test_check_knows_the_running_daemon_and_another_one_that_is_in_its_way(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        own = edged("check", tmp_path / "edged.yaml", env={"XDG_STATE_HOME": str(tmp_path)})
        other = tmp_path / "other.yaml"
        other.write_text(json.dumps({**daemon.config, "node": "other"}))
        others = edged("check", other, env={"XDG_STATE_HOME": str(tmp_path)})
        changed = tmp_path / "changed.yaml"
        changed.write_text(json.dumps({**daemon.config, "cameras": {"desk": {"source": "synthetic:digits"}}}))
        new = edged("check", changed, env={"XDG_STATE_HOME": str(tmp_path)})
    assert f"{daemon.address} is that of the running daemon" in own.stdout
    assert own.returncode == 0
    assert f"{daemon.address} is in use (by another edged? choose another port)" in others.stdout
    assert others.returncode == 2
    daemon_line = next(line for line in new.stdout.splitlines() if " daemon " in line)
    assert daemon_line.startswith("ok ")
    assert "runs with other settings than this file, and goes on" in daemon_line
    assert f"`edged reload {changed}` would change it: cameras added: desk; removed: demo" in daemon_line
    assert new.returncode == 0


@pytest.mark.deep
def test_subscribing_to_a_camera_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        done = edged("subscribe", daemon.address, "--camera", "nope")
    assert (done.returncode, done.stderr) == (2, f"edged: --camera nope: {daemon.address} has only demo\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order_with_nothing_left_running(tmp_path: Path, number: signal.Signals) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(3)
        children = daemon.children()
        assert len(children) == 2
        daemon.process.send_signal(number)
        assert daemon.process.wait(LIMIT_S) == 0
        assert not any(child.is_running() for child in children)
        assert conserves(daemon.end())


@pytest.mark.promise("a signal ends the daemon within 2 s")
def test_a_signal_ends_it_within_2_s(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(3)
        given = GivenTime()
        daemon.stop()
        assert given.seconds() < 2.0


def test_a_second_signal_ends_even_what_hangs_at_once(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        worker.suspend()
        daemon.process.send_signal(signal.SIGINT)
        daemon.process.send_signal(signal.SIGTERM)
        assert conserves(daemon.end())
        assert not worker.is_running()


@pytest.mark.deep
def test_the_children_of_a_hub_that_was_killed_end_too(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        children = daemon.children()
        daemon.child("worker").suspend()  # hangs, as a driver may
        daemon.process.kill()
        gone, alive = psutil.wait_procs(children, timeout=LIMIT_S)
        assert len(gone) == 2
        assert not alive


def test_the_hub_loads_no_camera_device_or_model_library_and_stays_small(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        hub = psutil.Process(daemon.process.pid)
        loaded = [Path(mapped.path).name for mapped in hub.memory_maps()]
        assert not [name for name in loaded if any(bad in name.lower() for bad in HUB_MUST_NOT_LOAD)]
        assert hub.memory_info().rss < 60e6


def test_no_thread_that_the_hub_wakes_interrupts_its_loop(tmp_path: Path) -> None:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        hub = psutil.Process(daemon.process.pid)
        tasks = Path(f"/proc/{hub.pid}/task")
        of_zeromq = [int(task.name) for task in tasks.iterdir() if "/IO/" in (task / "comm").read_text()]
        assert {os.sched_getscheduler(thread) for thread in of_zeromq} == {os.SCHED_BATCH}
        for process in (hub, *hub.children()):
            assert os.sched_getscheduler(process.pid) == os.SCHED_OTHER


@pytest.mark.deep
def test_two_cameras_share_a_worker(tmp_path: Path) -> None:
    cameras = {"door": SYNTHETIC, "gate": {**SYNTHETIC, "seed": 2, "fps": 10}}
    with run_edged(tmp_path, config=config_in(tmp_path, cameras=cameras)) as daemon:
        assert daemon.first(1, camera="door")
        assert daemon.first(1, camera="gate")
        assert conserves(daemon.stop())


def test_when_every_camera_has_ended_the_daemon_does_and_every_picture_is_predicted(tmp_path: Path) -> None:
    pictures = a_folder_of_pictures(tmp_path / "pictures", 12)
    cameras = {"folder": {"source": str(pictures)}}
    with run_edged(tmp_path, config=config_in(tmp_path, cameras=cameras)) as daemon:
        summary = daemon.end()
    assert summary["captured"] == summary["predictions"] == 12
    assert summary["dropped"] == {}


@pytest.mark.deep
def test_a_device_that_is_too_slow_drops_frames_and_names_each(tmp_path: Path) -> None:
    config = config_in(
        tmp_path,
        cameras={"demo": {**SYNTHETIC, "fps": 100}},
        model={"name": "resnet18", "size": 160},  # tens of milliseconds a frame on NumPy, on any machine
        workers=[{"device": "numpy"}],
    )
    with run_edged(tmp_path, "--duration", "2", config=config) as daemon:
        summary = daemon.end()
    assert conserves(summary)
    assert summary["dropped"].keys() & {"superseded", "stale"}


@pytest.mark.deep
def test_the_next_worker_takes_over_where_a_device_is_absent(tmp_path: Path) -> None:
    workers = [{"device": "no such device"}, {"device": "numpy"}]
    with run_edged(tmp_path, config=config_in(tmp_path, workers=workers)) as daemon:
        daemon.first(1)  # as a stand-in, until the device is given up
        eventually(lambda: "local-1 (device numpy) takes over" in daemon.log())
        daemon.first(5)
        assert conserves(daemon.stop())


@pytest.mark.parametrize(
    ("sections", "code", "message"),
    [
        ({"workers": [{"device": "no such device"}]}, 3, "no worker can run"),
        ({"model": {"path": "/nonexistent.onnx"}}, 2, "nonexistent.onnx"),
    ],
)
def test_what_cannot_run_is_said_once_and_nothing_is_left(
    tmp_path: Path, sections: dict[str, Any], code: int, message: str
) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path, **sections)))
    done = edged("run", tmp_path / "edged.yaml", env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == code
    assert message in done.stderr


def a_folder_of_pictures(folder: Path, count: int) -> Path:
    import cv2
    import numpy as np

    folder.mkdir()
    for number in range(count):
        assert cv2.imwrite(str(folder / f"{number:02d}.png"), np.full((20, 20, 3), 20 * number, np.uint8))
    return folder
