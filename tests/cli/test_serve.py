"""`edged serve`: a daemon without a config."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.command import edged, edged_here
from tests.e2e.daemon import START_S, compiled
from tests.eventually import LIMIT_S, eventually, free_port
from tests.frigate_client import FrigateClient
from tests.http_requests import curl, png
from tests.model.detectors import SIDE, detector_file


@contextmanager
def serve(folder: Path, kind: str, option: str, address: str) -> Iterator["subprocess.Popen[str]"]:
    """`edged serve KIND net.onnx OPTION ADDRESS` in a folder, on free ports."""
    detector_file(folder / "net.onnx", "yolox")
    (folder / "labels.txt").write_text("cat\ndog\ncow\n")
    values = {
        "workers": "[{device: numpy}]",
        "freshness.max_age_s": START_S,  # on a busy machine
        f"cameras.{kind}.answer_s": LIMIT_S,
        "publish.address": f"tcp://127.0.0.1:{free_port()}",
        "publish.replay": f"tcp://127.0.0.1:{free_port()}",
        "metrics.address": f"127.0.0.1:{free_port()}",
    }
    settings = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "edged", "serve", kind, "net.onnx", "--labels", "labels.txt"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CACHE_HOME": str(compiled())}
    with subprocess.Popen(
        [*command, option, address, "--json", *settings],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as daemon:
        try:
            yield daemon
        finally:
            daemon.kill()


def summary_of(daemon: "subprocess.Popen[str]") -> dict[str, Any]:
    """What it prints when it is stopped."""
    daemon.send_signal(signal.SIGTERM)
    output, errors = daemon.communicate(timeout=LIMIT_S)
    assert daemon.returncode == 0, errors
    assert "Traceback" not in errors
    summary: dict[str, Any] = json.loads(output)
    return summary


def test_it_answers_frigate_with_the_given_model(tmp_path: Path) -> None:
    address = f"ipc://{tmp_path}/frigate"
    with (
        serve(tmp_path, "frigate", "--endpoint", address) as daemon,
        FrigateClient(address, timeout_ms=int(1000 * LIMIT_S)) as client,
    ):
        assert client.is_ready
        picture = np.random.default_rng(3).integers(0, 256, (1, SIDE, SIDE, 3)).astype(np.uint8)
        assert client.detect(picture).shape == (20, 6)
        summary = summary_of(daemon)

    assert (summary["captured"], summary["predictions"]) == (1, 1)


def test_it_answers_programs_over_http_with_the_given_model(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(png(np.zeros((9, 16, 3), np.uint8)))
    address = f"127.0.0.1:{free_port()}"

    def is_ready() -> bool:
        try:
            return curl(f"http://{address}/v2/models/net/ready").status == 200
        except subprocess.CalledProcessError:  # nobody listens yet
            return False

    with serve(tmp_path, "http", "--listen", address) as daemon:
        eventually(is_ready, START_S)
        reply = curl(f"http://{address}/v1/vision/detection", "--form", f"image=@{tmp_path}/picture.png")
        summary = summary_of(daemon)

    assert reply.json["success"]
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


def test_a_listener_for_other_hosts_needs_tls_and_a_key(tmp_path: Path) -> None:
    model = detector_file(tmp_path / "net.onnx", "yolox")

    done = edged("serve", "http", model, "--listen", "0.0.0.0:32168")

    assert done.returncode == 2
    assert "requests:0.0.0.0:32168 accepts any host: use 127.0.0.1, or add tls and key_file" in done.stderr
