"""Five hundred subscribers at once, some of whom never read."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from tests.e2e.daemon import PATIENT, config_in, conserves, run_edged
from tests.e2e.daemon_use import listening, rejected
from tests.eventually import eventually

pytestmark = pytest.mark.deep

READERS, SLEEPERS = 400, 100
GROWTH = 64 << 20  # bytes of the hub's memory


@pytest.fixture
def _few_descriptors() -> Iterator[None]:
    """As many as a login shell gives."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_few_descriptors")
def test_readers_are_served_sleepers_are_cut_off_and_the_hub_stays_small(tmp_path: Path) -> None:
    with run_edged(tmp_path, config=config_in(tmp_path, freshness=PATIENT)) as daemon:
        daemon.first(1)
        hub = psutil.Process(daemon.process.pid)
        before = hub.memory_info().rss
        crowd = [sys.executable, "-m", "tests.e2e.crowd", daemon.address, str(READERS), str(SLEEPERS)]
        with listening(daemon) as got, subprocess.Popen(crowd, stdin=-1, stdout=-1, text=True) as peers:
            assert peers.stdin
            assert peers.stdout
            assert "all served" in peers.stdout.readline()
            eventually(lambda: rejected(daemon, "stalled") >= SLEEPERS)
            assert hub.memory_info().rss - before < GROWTH
            peers.stdin.close()
            eventually(lambda: len(got) > 1)
        assert all(second == first + 1 for first, second in pairwise(got))
        assert conserves(daemon.stop())
        assert "Too many open files" not in daemon.log()
