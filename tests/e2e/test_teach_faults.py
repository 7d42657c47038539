"""What dies in the middle of a promotion: the old version answers then, or the new one, and nothing in between."""

import signal
import time
from pathlib import Path

import pytest

from edged.cli.daemon_client import connect_daemon
from edged.errors import EdgedError
from edged.messages import PromoteAnswer, PromoteRequest
from edged.model.head_versions import Base, load_promoted, teach_folder
from tests.e2e.daemon import Daemon, config_in, run_edged
from tests.e2e.versions import keep_random_version
from tests.eventually import LIMIT_S, eventually

pytestmark = pytest.mark.deep


@pytest.fixture
def lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the daemon looks for versions."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return teach_folder("test")


def version_for(lessons: Path, daemon: Daemon) -> str:
    """One on top of the model that runs; its name."""
    model = daemon.first(1)[0].model
    return keep_random_version(lessons, Base(name=model.name, sha256=model.sha256))


def answers(daemon: Daemon) -> str:
    """Which model does."""
    return daemon.first(1)[0].model.sha256


def test_a_hub_that_is_killed_while_it_promotes_starts_with_the_old_version_or_the_new_one(
    tmp_path: Path, lessons: Path
) -> None:
    config = config_in(tmp_path)
    with run_edged(tmp_path, config=config) as daemon:
        version = version_for(lessons, daemon)
    for delay_s in (0.002, 0.05):
        with run_edged(tmp_path, config=config) as daemon:
            assert (answers(daemon) == version) == (load_promoted(lessons).version == version)
            with connect_daemon(tmp_path / "edged.yaml", "teach") as hub:
                hub.send(PromoteRequest(version=version))
                time.sleep(delay_s)  # the fault
                daemon.process.send_signal(signal.SIGKILL)
                daemon.process.wait()
    with run_edged(tmp_path, config=config) as daemon:
        assert (answers(daemon) == version) == (load_promoted(lessons).version == version)


def test_a_worker_that_is_killed_while_it_is_given_a_version_changes_nothing_or_all(
    tmp_path: Path, lessons: Path
) -> None:
    with run_edged(tmp_path, config=config_in(tmp_path)) as daemon:
        version = version_for(lessons, daemon)
        with connect_daemon(tmp_path / "edged.yaml", "teach") as hub:
            daemon.child("worker").send_signal(signal.SIGSTOP)
            hub.send(PromoteRequest(version=version))
            with pytest.raises(EdgedError, match="does not answer within"):
                hub.receive(0.1)  # it waits for the worker
            daemon.child("worker").send_signal(signal.SIGKILL)
            outcome, _ = hub.receive(LIMIT_S)

        assert isinstance(outcome, PromoteAnswer)
        kept = load_promoted(lessons).version
        assert kept == (version if outcome.accepted else None), outcome.message
        eventually(lambda: (answers(daemon) == version) == outcome.accepted)
