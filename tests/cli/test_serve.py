"""`edged serve frigate`: a daemon without a config."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.cli.command import edged, edged_here
from tests.e2e.daemon import START_S, compiled
from tests.eventually import LIMIT_S, free_port
from tests.frigate_client import FrigateClient
from tests.model.detectors import SIDE, detector_file


def test_it_answers_frigate_with_the_given_model(tmp_path: Path) -> None:
    detector_file(tmp_path / "net.onnx", "yolox")
    address = f"ipc://{tmp_path}/frigate"
    (tmp_path / "labels.txt").write_text("cat\ndog\ncow\n")
    values = {
        "workers": "[{device: numpy}]",
        "freshness.max_age_s": START_S,  # on a busy machine
        "cameras.frigate.answer_s": LIMIT_S,
        "publish.address": f"tcp://127.0.0.1:{free_port()}",
        "publish.replay": f"tcp://127.0.0.1:{free_port()}",
        "metrics.address": f"127.0.0.1:{free_port()}",
    }
    settings = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "edged", "serve", "frigate", "net.onnx", "--labels", "labels.txt"]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(compiled())}
    with subprocess.Popen(
        [*command, "--endpoint", address, "--json", *settings],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as daemon:
        try:
            with FrigateClient(address, timeout_ms=int(1000 * LIMIT_S)) as client:
                assert client.is_ready
                picture = np.random.default_rng(3).integers(0, 256, (1, SIDE, SIDE, 3)).astype(np.uint8)
                assert client.detect(picture).shape == (20, 6)
            daemon.send_signal(signal.SIGTERM)
            output, errors = daemon.communicate(timeout=LIMIT_S)
        finally:
            daemon.kill()

    assert daemon.returncode == 0, errors
    assert "Traceback" not in errors
    summary = json.loads(output)
    assert (summary["captured"], summary["predictions"]) == (1, 1)


def test_an_address_for_other_hosts_is_refused(tmp_path: Path) -> None:
    model = detector_file(tmp_path / "net.onnx", "yolox")

    done = edged("serve", "frigate", model, "--endpoint", "tcp://0.0.0.0:5555")

    assert done.returncode == 2
    assert "--endpoint" in done.stderr
    assert "requires an address that only this host reaches" in done.stderr


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    done = edged_here("serve", "frigate", "net.onnx", "--endpoint", "5555")

    assert done.returncode == 2
    assert "is not an address like tcp://127.0.0.1:5570" in done.stderr
