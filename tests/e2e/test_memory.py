"""A worker that gets no more memory, from the kernel or from a real OpenCL driver."""

import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.models import small_network
from tests.e2e.daemon import conserves, run_edged
from tests.e2e.daemon_use import WITHIN_S, restarts, seconds_to_recover

pytestmark = pytest.mark.deep

# glibc keeps nothing in store: whatever is allocated is asked of the kernel
NO_RESERVES = {"ARENA_MAX": 1, "TOP_PAD_": 0, "TRIM_THRESHOLD_": 0, "MMAP_THRESHOLD_": 4096}
ENOUGH_TO_START = 2_000_000_000  # bytes of address space, of which a worker on PoCL takes about one half


def refuse_more(worker: psutil.Process) -> None:
    """From now on every request of the process for memory fails."""
    limit = worker.memory_info().vms
    resource.prlimit(worker.pid, resource.RLIMIT_AS, (limit, limit))


@pytest.mark.promise("predictions go on within 3 s")
def test_predictions_go_on_after_a_worker_got_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NO_RESERVES.items():
        monkeypatch.setenv(f"MALLOC_{name}", str(value))
    with run_edged(tmp_path) as daemon:
        daemon.first(1)
        worker = daemon.child("worker")
        assert seconds_to_recover(daemon, worker, lambda: refuse_more(worker)) < WITHIN_S
        # a C library that asks first may abort or crash of it
        assert restarts(daemon, "out_of_memory") + restarts(daemon, "signal") == 1
        assert conserves(daemon.stop())


def test_a_network_that_the_device_has_no_memory_for_is_a_clear_error_at_the_start(tmp_path: Path) -> None:
    pytest.importorskip("pyopencl")
    model = small_network(tmp_path / "large.onnx", size=1024)  # 2 GiB for what the convolution writes alone
    config = tmp_path / "edged.yaml"
    config.write_text(
        f"cameras: {{demo: {{source: 'synthetic:digits'}}}}\nmodel: {{path: {model}}}\n"
        "workers: [{device: cpu, batch: 64}]\n"
    )
    command = [
        sys.executable,
        "-m",
        "edged",
        "worker",
        "0",
        "--config",
        str(config),
        "--hub",
        f"ipc://{tmp_path}/hub",
    ]
    done = subprocess.run(
        ["prlimit", f"--as={ENOUGH_TO_START}", *command], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 5, done.stderr
    assert "failed while reserving" in done.stderr.splitlines()[-1]
    assert "A smaller `batch`" in done.stderr.splitlines()[-1]
