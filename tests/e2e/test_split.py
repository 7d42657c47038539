"""One network over two workers: the answers, what the two do at once, and what a lost one costs."""

from pathlib import Path
from typing import Any

import psutil
import pytest

from edged.client import Prediction
from edged.engine.device import list_devices
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.e2e.daemon_use import reload
from tests.eventually import eventually

Sections = dict[str, Any]

CPU = {"device": "cpu", "threads": 1}
WHOLE: Sections = {"workers": [CPU]}
FRONT, BACK = {**CPU, "group": "front"}, {**CPU, "group": "back"}
PARTS: Sections = {
    "workers": [FRONT, BACK],
    "segments": [{"until": "layer.3", "workers": "front"}, {"workers": "back"}],
}

pytestmark = pytest.mark.skipif(
    not any(device.kind == "cpu" and "Portable" in device.platform for device in list_devices()),
    reason="PoCL is not installed: two workers cannot share a device",
)


def config(folder: Path, model: dict[str, Any] | None = None, **sections: Any) -> dict[str, Any]:
    camera = {**SYNTHETIC, "fps": 15, "seed": 7}
    return config_in(folder, **{"cameras": {"demo": camera}, "model": model or {"name": "digits"}, **sections})


def answers(predictions: list[Prediction]) -> dict[int, Any]:
    return {each.frame: each.top for each in predictions}


def worker(daemon: Daemon, index: int) -> psutil.Process:
    """The process of that worker, once there is one."""
    commands = (("worker", str(index)),)

    def found() -> list[psutil.Process]:
        return [each for each in daemon.children() if tuple(each.cmdline()[3:5]) in commands]

    return eventually(found)[0]


def made_by(daemon: Daemon, names: str) -> bool:
    return daemon.first(1)[0].model.worker == names


@pytest.mark.deep
def test_a_split_network_answers_as_the_whole_does_to_the_bit(tmp_path: Path) -> None:
    with run_edged(tmp_path, config=config(tmp_path, **WHOLE)) as daemon:
        whole = answers(daemon.first(40))
    with run_edged(tmp_path, config=config(tmp_path, **PARTS)) as daemon:
        predictions = daemon.first(40)
        assert conserves(summary := daemon.stop())
    parts = answers(predictions)
    both = whole.keys() & parts.keys()
    assert len(both) > 10
    assert {frame: parts[frame] for frame in both} == {frame: whole[frame] for frame in both}
    assert summary["accuracy"] == 1.0
    for each in predictions:
        stages = each.seconds
        known = stages.preprocess + stages.upload + stages.forward + stages.download + stages.publish
        assert each.model.worker == "local-0+local-1"
        assert stages.wait >= 0
        assert stages.total == pytest.approx(stages.wait + known)


@pytest.mark.deep
def test_two_devices_work_on_different_frames_at_once(tmp_path: Path) -> None:
    model, camera = {"name": "resnet18", "size": 96}, {**SYNTHETIC, "fps": 100}
    workers = [{**worker, "device": "numpy"} for worker in (FRONT, BACK)]
    segments = [{"until": "stage2", "workers": "front"}, {"workers": "back"}]
    sections = {"workers": workers, "segments": segments, "cameras": {"demo": camera}}
    with run_edged(tmp_path, config=config(tmp_path, model, **sections)) as daemon:
        daemon.first(10)
        predictions = daemon.first(60)
        took_s = predictions[-1].published_at - predictions[0].published_at
        busy = sum(each.seconds.forward for each in predictions[1:]) / took_s
        print(f"{len(predictions) / took_s:.0f} frames a second, on {busy:.2f} devices at once")
        assert busy > 1.0  # no single device could compute so long in this time
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_a_part_that_is_lost_is_started_again_and_its_frames_are_tried_again_or_counted(tmp_path: Path) -> None:
    with run_edged(tmp_path, config=config(tmp_path, **PARTS)) as daemon:
        daemon.first(5)
        for index in (1, 0):
            lost = worker(daemon, index)
            lost.kill()
            eventually(lambda lost=lost: not lost.is_running())  # type: ignore[misc]
            assert made_by(daemon, "local-0+local-1")
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_where_a_part_is_given_up_the_other_ones_device_runs_the_whole_until_the_part_is_back(
    tmp_path: Path,
) -> None:
    workers = [{"device": "cpu", "group": "front"}, {"device": "numpy", "group": "back"}, {"device": "cpu"}]
    sections: Sections = {"workers": workers, "recovery": {"losses": 1, "retry_device_s": 20}}
    with run_edged(tmp_path, config=config(tmp_path, **{**PARTS, **sections})) as daemon:
        eventually(lambda: made_by(daemon, "local-0+local-1"))
        worker(daemon, 1).kill()
        eventually(lambda: made_by(daemon, "local-2"))
        eventually(lambda: made_by(daemon, "local-0+local-1"))
        assert 'edged_switches_total{worker="local-2"} 1.0' in daemon.metrics()
        assert 'edged_switches_total{worker="local-0"} 1.0' in daemon.metrics()
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_another_cut_takes_effect_while_the_daemon_runs(tmp_path: Path) -> None:
    with run_edged(tmp_path, config=config(tmp_path, **PARTS)) as daemon:
        before = daemon.first(1)[0]
        code, words = reload(daemon, segments=[{"until": "layer.5", "workers": "front"}, {"workers": "back"}])
        assert (code, "settings: segments" in words) == (0, True)
        cut = "layer.5.shortcut.norm"
        eventually(lambda: f"local-1 is ready: digits, from {cut} to the scores" in daemon.log())
        eventually(lambda: f"local-0 is ready: digits, from the images to {cut}" in daemon.log())
        after = daemon.first(1)[0]
        assert after.model == before.model
        code, _ = reload(daemon, segments=[], workers=[CPU])
        eventually(lambda: made_by(daemon, "local-0"))
        assert conserves(daemon.stop())
