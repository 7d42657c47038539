"""`edged profile --attach` and `edged trace` beside a daemon that serves."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from edged.client import Prediction, subscribe
from edged.engine.device import find_device, list_devices
from tests.cli.command import edged
from tests.cli.trace_format import faults
from tests.e2e.daemon import SYNTHETIC, Daemon, config_in, conserves, run_edged
from tests.e2e.terminal import edged_in_a_terminal
from tests.eventually import LIMIT_S, eventually, in_background
from tests.given_time import GivenTime

LAYERS = ["prepare", "a", "c", "scores"]
FOR_EVER = ("--count", "1000000", "--duration", "600")
ON_DEVICE = "edged_layer_seconds_count{"

needs_opencl = pytest.mark.skipif(not list_devices(), reason="no OpenCL device")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """Two cameras, of which one gives more than it may, and a worker on the first OpenCL device."""
    folder = tmp_path_factory.mktemp("recorded")
    cameras = {"door": SYNTHETIC, "gate": {**SYNTHETIC, "max_fps": 5}}
    device = "auto" if list_devices() else "numpy"
    config = config_in(folder, cameras=cameras, workers=[{"device": device}])
    with run_edged(folder, config=config) as daemon:
        daemon.first(1)
        yield daemon
        assert conserves(daemon.stop())


@pytest.fixture
def numpy_daemon(tmp_path: Path) -> Iterator[Daemon]:
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        yield daemon
        assert conserves(daemon.stop())


def ask(daemon: Daemon, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return edged(*arguments, env=environment(daemon))


def environment(daemon: Daemon) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(daemon.folder), "XDG_CACHE_HOME": str(daemon.folder / "cache")}


def file_of(daemon: Daemon) -> Path:
    return daemon.folder / "edged.yaml"


@contextmanager
def asking(daemon: Daemon, *arguments: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Somebody who asks, and goes on asking."""
    command = [sys.executable, "-m", "edged", *map(str, arguments)]
    process = subprocess.Popen(
        command, env=os.environ | environment(daemon), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def is_recorded(daemon: Daemon) -> bool:
    return ON_DEVICE in daemon.metrics()


@pytest.mark.deep
@needs_opencl
def test_the_layers_of_a_running_worker_are_those_of_the_offline_profile(daemon: Daemon) -> None:
    before = daemon.first(1)[0].seq

    done = ask(daemon, "profile", "--attach", file_of(daemon), "--count", "20")

    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert lines[0].startswith("small 16×16, batch 1")
    assert lines[0].endswith("worker local-0")
    assert lines[1].startswith("roofs: not known there")
    assert [line.split()[0] for line in lines[3:7]] == LAYERS
    assert lines[-2].startswith("overhead of reading the timers: ")
    assert "forward" in lines[-1]
    assert daemon.first(1)[0].seq > before


@pytest.mark.deep
@needs_opencl
def test_a_program_gets_the_cost_beside_the_figures_and_the_roofs_that_were_measured_before(
    daemon: Daemon,
) -> None:
    offline = ask(daemon, "profile", "--model", daemon.folder / "small.onnx", "--runs", "2", "--json")

    done = ask(daemon, "profile", "--attach", file_of(daemon), "--count", "20", "--json")

    found, measured = json.loads(done.stdout), json.loads(offline.stdout)
    assert found["peaks"] in (measured["peaks"], None)  # those of a turn that was disturbed are not kept
    looked_at = found["machine"] and sum(found["machine"]["runs"].values())
    assert looked_at == (found["runs"] if find_device("auto").kind == "cpu" else None)
    same = ("operator", "kernel", "macs", "bytes")
    assert [[k[key] for key in same] for k in found["kernels"]] == [
        [k[key] for key in same] for k in measured["kernels"]
    ]
    assert found["cost"]["reading"] > 0
    assert found["cost"]["without"]["jobs"] > 0
    assert found["seconds"]["forward"] <= found["seconds"]["wall"]


@pytest.mark.deep
@needs_opencl
def test_one_client_at_a_time_has_layers_timed_until_it_ends(
    daemon: Daemon,
) -> None:
    with asking(daemon, "profile", "--attach", file_of(daemon), *FOR_EVER) as asker:
        eventually(lambda: is_recorded(daemon))
        second = ask(daemon, "trace", file_of(daemon), "--output", daemon.folder / "second.json")
        asker.kill()
        eventually(lambda: not is_recorded(daemon))

    assert (second.returncode, "one session at a time" in second.stderr) == (1, True)
    assert f"another `edged profile` (process {asker.pid})" in second.stderr


@pytest.mark.promise("a recording ends within 2 s of an interruption; of a client that has died, after 3 s")
@needs_opencl
def test_who_is_interrupted_says_so_to_the_daemon(daemon: Daemon) -> None:
    with asking(daemon, "profile", "--attach", file_of(daemon), *FOR_EVER) as asker:
        eventually(lambda: is_recorded(daemon))
        asker.send_signal(signal.SIGINT)
        assert asker.wait(LIMIT_S) == 130
        given = GivenTime()
    eventually(lambda: not is_recorded(daemon))
    assert given.seconds() < 2


def traced(daemon: Daemon, *arguments: str) -> tuple[dict[str, Any], dict[int, Prediction]]:
    """A trace, and by number the predictions that were published meanwhile."""
    path = daemon.folder / "trace.json"
    heard: dict[int, Prediction] = {}

    def listen(stop: threading.Event) -> None:
        for prediction in subscribe(daemon.address, timeout_s=LIMIT_S):
            heard[prediction.seq] = prediction
            if stop.is_set():
                return

    with in_background(listen):
        eventually(lambda: heard)
        done = ask(daemon, "trace", file_of(daemon), "--duration", "1.5", "--output", path, *arguments)
        assert done.returncode == 0, done.stderr
    trace: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert f"{trace['otherData']['frames']} frames" in done.stdout
    return trace, heard


@pytest.mark.deep
def test_a_terminal_shows_how_long_a_recording_still_takes(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment(daemon).items():
        monkeypatch.setenv(name, value)
    path = daemon.folder / "shown.json"

    with edged_in_a_terminal("trace", str(file_of(daemon)), "--duration", "3", "--output", str(path)) as terminal:
        terminal.shows("edged: recording, 2 s left")
        assert terminal.end() == 0
        assert not any("recording" in row for row in terminal.rows())


def ways(trace: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, float]]]:
    """Of each frame: what it is, and microseconds by stage; what was waited for together."""
    begun: dict[tuple[str, str], float] = {}
    stages: dict[str, dict[str, float]] = {}
    whole: dict[str, dict[str, Any]] = {}
    for event in trace["traceEvents"]:
        which = event.get("id2", {}).get("local")
        if event["ph"] == "b":
            begun[which, event["name"]] = event["ts"]
            if event["args"]:
                whole[which] = event["args"]
        elif event["ph"] == "e":
            stage = "wait" if event["name"].startswith("wait ") else event["name"]
            took = event["ts"] - begun[which, event["name"]]
            of_frame = stages.setdefault(which, {})
            of_frame[stage] = of_frame.get(stage, 0.0) + took
    return ((whole[which], stages[which]) for which in whole)


@pytest.mark.deep
def test_a_trace_is_sound_and_holds_every_process_and_what_was_dropped(daemon: Daemon) -> None:
    trace, _ = traced(daemon, "--layers")

    events = trace["traceEvents"]
    assert faults(trace) == []
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert [name.split(",")[0].split(" on ")[0] for name in names] == [
        "camera door", "camera gate", "hub", "worker local-0",
    ]  # fmt: skip
    assert "drop: max_fps" in {event["name"] for event in events if event["ph"] == "i"}
    work = {event["name"] for event in events if event["ph"] == "X"}
    assert {"capture", "preprocess", "send", "frame", "assign", "submit", "answer", "publish", "journal"} < work
    if list_devices():
        assert set(LAYERS) < work


@pytest.mark.deep
def test_the_stages_of_each_frame_are_those_that_were_published(daemon: Daemon) -> None:
    trace, heard = traced(daemon)

    found = [(heard[args["seq"]], stages) for args, stages in ways(trace) if args["seq"] in heard]
    assert len(found) > 10
    for prediction, stages in found:
        published = msgspec.structs.asdict(prediction.seconds)
        capture, total = published.pop("capture"), published.pop("total")
        assert stages["capture"] == pytest.approx(capture * 1e6, abs=0.01)
        assert {**dict.fromkeys(published, 0.0), **stages} == pytest.approx(
            {name: 1e6 * seconds for name, seconds in published.items()}
            | {"capture": capture * 1e6, prediction.camera: (capture + total) * 1e6},
            abs=0.02,
        )


@pytest.mark.deep
def test_a_worker_on_numpy_has_no_kernels_but_is_traced(numpy_daemon: Daemon) -> None:
    done = ask(numpy_daemon, "profile", "--attach", file_of(numpy_daemon))
    assert (done.returncode, done.stdout) == (2, "")
    assert "worker local-0 runs on NumPy: it has no kernels to profile" in done.stderr

    trace, _ = traced(numpy_daemon, "--layers")
    assert faults(trace) == []
    assert trace["otherData"]["frames"] > 0
