"""Another config while the daemon runs."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import zmq

from tests.cli.command import edged
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.e2e.daemon_use import hang_up, reload
from tests.eventually import eventually


@pytest.fixture(scope="module")
def one_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """For one config after another."""
    with run_edged(tmp_path_factory.mktemp("reload")) as daemon:
        daemon.first(1)
        yield daemon
        assert conserves(daemon.stop())


@pytest.fixture
def daemon(one_daemon: Daemon) -> Iterator[Daemon]:
    """With the config that it was started with, and again at the end."""
    yield one_daemon
    assert reload(one_daemon)[0] == 0
    one_daemon.first(1, camera="demo")
    eventually(lambda: two_children(one_daemon))


def test_a_camera_more_and_a_camera_less(daemon: Daemon) -> None:
    code, words = reload(daemon, cameras={"yard": SYNTHETIC})
    assert code == 0
    assert "cameras added: yard; removed: demo" in words
    assert daemon.first(1, camera="yard")
    commands = [" ".join(child.cmdline()) for child in eventually(lambda: two_children(daemon))]
    assert not any(" demo " in command for command in commands)
    assert 'edged_camera_up{camera="demo"}' not in daemon.metrics()


def values_of(daemon: Daemon, metric: str) -> list[str]:
    """Return the values of a metric, with the labels."""
    return [line.removeprefix(metric) for line in daemon.metrics().splitlines() if line.startswith(metric)]


def test_the_metrics_say_which_config_is_in_use_and_whether_the_last_was_applied(daemon: Daemon) -> None:
    (first,) = values_of(daemon, "edged_config_info")
    assert reload(daemon, publish={**daemon.config["publish"], "top": 3})[0] == 0
    (second,) = values_of(daemon, "edged_config_info")
    assert second != first
    hang_up(daemon, publish={**daemon.config["publish"], "top": -3})
    eventually(lambda: values_of(daemon, "edged_config_last_reload_successful") == [" 0.0"])
    assert values_of(daemon, "edged_config_info") == [second]
    assert reload(daemon)[0] == 0
    assert values_of(daemon, "edged_config_info") == [first]
    assert values_of(daemon, "edged_config_last_reload_successful") == [" 1.0"]


def two_children(daemon: Daemon) -> list[psutil.Process]:
    children = daemon.children()
    return children if len(children) == 2 else []


@pytest.mark.deep
def test_a_camera_with_new_settings_is_started_again_and_the_other_one_is_not(tmp_path: Path) -> None:
    cameras = {"door": SYNTHETIC, "gate": SYNTHETIC}
    with run_edged(tmp_path, config=config_in(tmp_path, cameras=cameras)) as daemon:
        daemon.first(1, camera="door")
        door, gate = daemon.child("door"), daemon.child("gate")
        code, words = reload(daemon, cameras={**cameras, "gate": {**SYNTHETIC, "max_fps": 5}})
        assert (code, "changed: gate" in words) == (0, True)
        eventually(lambda: not gate.is_running())
        daemon.first(1, camera="gate")
        eventually(lambda: 'edged_frames_dropped_total{camera="gate",reason="max_fps"}' in daemon.metrics())
        assert daemon.child("door").pid == door.pid
        assert conserves(daemon.stop())


@pytest.mark.deep
def test_snapshots_are_switched_on_and_off_while_the_camera_goes_on(daemon: Daemon) -> None:
    camera = daemon.child("camera")
    published = 'edged_snapshots_total{camera="demo",result="published"}'
    assert published not in daemon.metrics()
    code, words = reload(daemon, cameras={"demo": {**SYNTHETIC, "snapshot": {"every_s": 0.1}}})
    assert (code, "snapshots: demo" in words) == (0, True)
    eventually(lambda: published in daemon.metrics())
    assert reload(daemon)[0] == 0
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.setsockopt(zmq.RCVTIMEO, 10_000)  # milliseconds
        socket.subscribe("")
        socket.connect(daemon.address)
        daemon.first(30)  # a second
        topics = [socket.recv_multipart()[0] for _ in range(20)]
    assert not any(topic.startswith(b"snapshot/") for topic in topics)
    assert daemon.child("camera") == camera


def test_settings_take_effect_with_the_next_prediction(daemon: Daemon) -> None:
    assert len(daemon.first(1)[0].top) > 1
    assert reload(daemon, publish={**daemon.config["publish"], "top": 1})[0] == 0
    assert len(daemon.first(2)[1].top) == 1


@pytest.mark.deep
def test_a_config_that_fails_changes_nothing_and_does_not_hurt_a_camera_that_starts_again(daemon: Daemon) -> None:
    (daemon.folder / "edged.yaml").write_text("cameras: {demo: {sauce: 1}}")
    done = edged("reload", daemon.folder / "edged.yaml", env={"XDG_STATE_HOME": str(daemon.folder)})
    assert done.returncode == 2
    assert "edged.yaml:1:18: cameras.demo: unknown key 'sauce'" in done.stderr
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: "the present config stays in use" in daemon.log())
    daemon.child("camera").kill()
    seen = daemon.first(1)[0].seq
    assert daemon.first(30)[-1].seq > seen


def test_a_hang_up_reloads_too(daemon: Daemon) -> None:
    path = daemon.folder / "edged.yaml"
    path.write_text(json.dumps({**daemon.config, "freshness": {"max_age_s": 3}, "node": "another"}))
    daemon.process.send_signal(signal.SIGHUP)
    eventually(lambda: "settings: freshness.max_age_s; only after a restart: node" in daemon.log())
    assert daemon.first(1)[0].node == "test"


@pytest.mark.deep
def test_a_hang_up_while_the_daemon_starts_reloads_once_it_runs(tmp_path: Path) -> None:
    with run_edged(tmp_path, module="tests.e2e.early_reload") as daemon:
        assert daemon.first(1)
        eventually(lambda: "edged.yaml is applied" in daemon.log())
        assert signal.SIGHUP not in blocked_signals(daemon.child("camera").pid)
        assert conserves(daemon.stop())


def test_the_result_is_printed_as_json(daemon: Daemon) -> None:
    path = daemon.folder / "edged.yaml"
    path.write_text(json.dumps({**daemon.config, "freshness": {"max_age_s": 3}}))
    done = edged("reload", path, "--json", env={"XDG_STATE_HOME": str(daemon.folder)})
    assert json.loads(done.stdout) == {
        "accepted": True,
        "message": f"{path} is applied: settings: freshness.max_age_s",
    }


def test_nobody_to_tell_is_said(tmp_path: Path) -> None:
    (tmp_path / "edged.yaml").write_text(json.dumps(config_in(tmp_path)))
    done = edged("reload", tmp_path / "edged.yaml", env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.returncode == 1
    assert "no running edged uses" in done.stderr


@pytest.mark.deep
def test_a_worker_with_other_settings_is_started_again_by_them(
    daemon: Daemon,
) -> None:
    before = daemon.child("worker")
    workers = [{"device": "numpy", "credit": 1}, {"device": "numpy"}]
    code, words = reload(daemon, workers=workers, recovery={"losses": 5}, journal={"max_predictions": 5000})
    assert (code, "settings: workers, recovery.losses, journal.max_predictions" in words) == (0, True)
    eventually(lambda: not before.is_running())
    assert daemon.first(1)
    assert "worker local-0 has ended, and starts again with other settings" in daemon.log()
    assert len(eventually(lambda: two_children(daemon))) == 2


@pytest.mark.deep
def test_the_device_that_serves_is_taken_out_of_the_list(tmp_path: Path) -> None:
    workers = [{"device": "no such device"}, {"device": "numpy"}]
    with run_edged(tmp_path, config=config_in(tmp_path, workers=workers)) as daemon:
        daemon.first(1)
        assert reload(daemon, workers=[{"device": "numpy"}])[0] == 0
        eventually(lambda: "worker local-0 is ready" in daemon.log())
        assert daemon.first(1)
        assert len(eventually(lambda: two_children(daemon))) == 2
        assert conserves(daemon.stop())


def blocked_signals(pid: int) -> set[int]:
    lines = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    mask = int(lines["SigBlk"], 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}
