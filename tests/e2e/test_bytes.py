"""What a frame costs on the links between hosts, encrypted: hardly more than its pixels."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from edged.client import subscribe
from edged.transport.keys import new_pair
from tests.camera.proxy import Proxy
from tests.cli.models import SIZE
from tests.e2e.daemon import START_S, config_in, run_edged
from tests.eventually import free_port

pytestmark = pytest.mark.deep

FRAMES = 100
IMAGE = SIZE * SIZE * 3
MOST = 1000  # bytes beside the pixels: headers, counts, scores, encryption, heartbeats


@contextmanager
def elsewhere(folder: Path, verb: str, what: str, config: dict[str, Any], port: int) -> Iterator[None]:
    """`edged camera` or `edged worker` as on another host, whose way to the hub leads through `port`."""
    file = folder / f"{verb}.yaml"
    security = config["security"] | {"key": str(folder / f"{verb}.key"), "hub": str(folder / "hub.pub")}
    file.write_text(json.dumps(config | {"link": {"address": f"tcp://127.0.0.1:{port}"}, "security": security}))
    command = [sys.executable, "-m", "edged", verb, what, "--config", str(file)]
    with (folder / f"{verb}.log").open("w") as log:
        process = subprocess.Popen(command, stderr=log, env=os.environ | {"XDG_STATE_HOME": str(folder / verb)})
    try:
        yield
    finally:
        process.kill()
        process.wait()


def test_a_frame_costs_its_pixels_and_less_than_a_kilobyte_on_each_link(tmp_path: Path) -> None:
    for name in ("hub", "camera", "worker"):
        new_pair(tmp_path, name)
    camera_key, worker_key = str(tmp_path / "camera.pub"), str(tmp_path / "worker.pub")
    port = free_port()
    config = config_in(
        tmp_path,
        cameras={"demo": {"source": "synthetic:digits", "size": [160, 120], "fps": 30, "host": "front"}},
        workers=[{"device": "numpy", "host": "back"}],
        link={"address": f"tcp://127.0.0.1:{port}"},
        security={
            "key": str(tmp_path / "hub.key"),
            "allow": [camera_key],
            "cameras": [camera_key],
            "workers": [worker_key],
        },
        publish={"address": f"ipc://{tmp_path}/pub", "replay": f"ipc://{tmp_path}/replay"},
    )

    with (
        Proxy(port) as to_camera,
        Proxy(port) as to_worker,
        run_edged(tmp_path, config=config) as daemon,
        elsewhere(tmp_path, "camera", "demo", config, to_camera.port),
        elsewhere(tmp_path, "worker", "0", config, to_worker.port),
    ):
        stream = subscribe(daemon.address, timeout_s=START_S)
        first, before = next(stream), (to_camera.passed, to_worker.passed)
        *_, last = (next(stream) for _ in range(FRAMES))
        by_camera, by_worker = to_camera.passed - before[0], to_worker.passed - before[1]

    assert IMAGE < by_camera / (last.frame - first.frame) < IMAGE + MOST
    assert IMAGE < by_worker / (last.seq - first.seq) < IMAGE + MOST
