"""A network is quantized on the frames that a camera of the running daemon sees."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.eventually import eventually

COMMAND_S = 600.0  # on a machine that is busy
FRAMES = 20


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("quantize")
    with run_edged(folder, config=config_in(folder)) as daemon:
        daemon.first(1)
        yield daemon


def quantize(daemon: Daemon, *options: str | Path | int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "edged", "quantize", *map(str, options)]
    return subprocess.run(
        [*command, "--config", str(daemon.folder / "edged.yaml"), "--json"],
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        env={**os.environ, "XDG_STATE_HOME": str(daemon.folder)},
        check=False,
    )


@pytest.mark.deep
def test_frames_of_a_running_camera_calibrate_and_judge(daemon: Daemon, tmp_path: Path) -> None:
    camera, target = next(iter(daemon.config["cameras"])), tmp_path / "small.onnx"
    model = daemon.config["model"]["path"]

    done = quantize(daemon, model, "--camera", camera, "--count", FRAMES, "--max-loss", 100, "--output", target)

    assert done.returncode == 0, done.stderr + daemon.log()
    assert json.loads(done.stdout)["accuracy"][0] == 1  # the original judges itself
    assert any(node.op_type == "QuantizeLinear" for node in onnx.load(target).graph.node)
    seq = daemon.first(1)[0].seq
    eventually(lambda: daemon.first(1)[0].seq > seq)  # the daemon goes on


@pytest.mark.deep
def test_a_camera_that_is_not_there_is_named_with_those_that_are(daemon: Daemon, tmp_path: Path) -> None:
    done = quantize(daemon, daemon.config["model"]["path"], "--camera", "nope", "--output", tmp_path / "out.onnx")

    assert done.returncode == 2
    assert f"has no camera nope: it has {', '.join(daemon.config['cameras'])}" in done.stderr


@pytest.mark.deep
def test_a_network_with_another_input_is_refused_with_the_way_out(daemon: Daemon, tmp_path: Path) -> None:
    camera = next(iter(daemon.config["cameras"]))

    done = quantize(daemon, "digits", "--camera", camera, "--output", tmp_path / "out.onnx")

    assert done.returncode == 2
    assert "give pictures by --images instead" in done.stderr
