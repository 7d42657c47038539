"""Several workers on one CPU, each with its own threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import models
from tests.cli.command import DEVICES
from tests.worker.hub_end import worker_process

LIMITS = """
import sys
from edged.runtime.threads import limit_threads
limit_threads(int(sys.argv[1]))
from edged.engine.device import find_device
print(find_device("portable").compute_units)
"""
HOLDS = """
from edged.config import WorkerConfig
from edged.runtime.select import hold_device
hold_device(WorkerConfig(device="portable", threads=1), "local-0")
"""


def python(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=os.environ | environment, check=False
    )


def is_pocl() -> bool:
    from edged.engine.device import list_devices

    return any("Portable Computing Language" in device.platform for device in list_devices())


pytestmark = pytest.mark.skipif("auto" not in DEVICES or not is_pocl(), reason="no OpenCL runtime")


def test_pocl_takes_as_many_threads_as_the_config_says() -> None:
    assert python(LIMITS, "1").stdout == "1\n"


@pytest.mark.deep
def test_two_workers_share_a_cpu_where_each_has_its_threads(tmp_path: Path) -> None:
    for folder in ("second", "third"):
        (tmp_path / folder).mkdir()
    worker = "{device: portable, threads: 1}"
    config = (
        "cameras: {demo: {source: 'synthetic:digits'}}\n"
        f"model: {{path: {models.small_network(tmp_path / 'model.onnx')}}}\nworkers: [{worker}, {worker}]\n"
    )

    with worker_process(tmp_path, config, 0) as first, worker_process(tmp_path / "second", config, 1) as second:
        assert (first.hello().worker, second.hello().worker) == ("local-0", "local-1")
        with worker_process(tmp_path / "third", config, 0) as third:
            assert third.exit_code() == 3
            assert f"is in use by process {first.process.pid}" in third.errors()


def test_a_device_that_takes_more_threads_than_the_config_says_is_refused(tmp_path: Path) -> None:
    done = python(HOLDS, POCL_MAX_PTHREAD_COUNT="2", XDG_STATE_HOME=str(tmp_path))

    assert "cannot be limited to threads: 1" in done.stderr
