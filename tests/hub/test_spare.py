"""A worker process that waits to be told which worker it is."""

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from edged.clock import NANOSECONDS
from edged.config import CameraConfig, Config, WorkerConfig
from edged.hub.children.child import Child
from edged.hub.children.command import ChildCommands
from edged.hub.children.spare import KEPT_NS, PAUSE_NS, Spare
from edged.hub.workers.supervisor import Supervisor
from tests.eventually import eventually
from tests.hub.running import Run, goes_on, while_it_runs

SAYS_WHAT_IT_IS_TOLD = "import sys, time; print('I am', sys.stdin.readline(), file=sys.stderr); time.sleep(60)"


others: set[psutil.Process] = set()  # children of this process from before the test, such as a resource tracker


@pytest.fixture
def spare() -> Iterator[Spare]:
    others.clear()
    others.update(processes())
    spare = Spare((sys.executable, "-c", SAYS_WHAT_IT_IS_TOLD), dict)
    yield spare
    spare.close()
    for left in processes():  # of a test that failed: the next one counts processes, too
        left.kill()


def processes() -> list[psutil.Process]:
    """Return the live children of this process that the test has started."""
    return [each for each in set(psutil.Process().children()) - others if is_alive(each)]


def is_alive(process: psutil.Process) -> bool:
    """Return whether it runs; it may end, and its parent wait for it, while we ask."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def command(process: psutil.Process) -> list[str]:
    """Return its command line; empty if it has ended meanwhile."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_a_child_that_starts_takes_the_spare_and_without_one_starts_by_itself(
    spare: Spare, capfd: pytest.CaptureFixture[str]
) -> None:
    spare.prepare(0)
    (waiting,) = processes()
    child = Child("worker/local-1", ("sleep", "60"), take_spare=lambda: spare.take("1"))
    child.start_if_due(child.due_ns or 0)
    assert processes() == [waiting]
    said = ""

    def has_name() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return "I am 1" in said

    eventually(has_name)
    waiting.kill()
    eventually(child.exit_code)
    child.start_again()
    child.start_if_due(child.due_ns or 0)
    eventually(lambda: [each.cmdline() for each in processes()] == [["sleep", "60"]])  # empty for a moment of exec
    processes()[0].kill()
    eventually(child.exit_code)


def test_one_that_nobody_needs_ends_and_the_next_has_to_wait(spare: Spare) -> None:
    spare.prepare(0)
    spare.prepare(1)
    assert len(processes()) == 1
    assert spare.next_ns == KEPT_NS
    spare.step(KEPT_NS - 1)
    assert len(processes()) == 1
    spare.step(KEPT_NS)
    eventually(lambda: not processes())
    spare.prepare(PAUSE_NS - 1)
    assert not processes()
    spare.prepare(PAUSE_NS)
    assert len(processes()) == 1


def test_one_that_has_ended_is_not_taken(spare: Spare) -> None:
    spare.prepare(0)
    (waiting,) = processes()
    waiting.kill()
    eventually(lambda: not processes())
    assert spare.take("0") is None


def test_a_machine_that_starts_no_process_has_no_spare() -> None:
    spare = Spare(("/nonexistent",), dict)
    spare.prepare(NANOSECONDS)
    assert spare.take("0") is None


def asleep(folder: Path) -> ChildCommands:
    """Processes that only wait."""
    return ChildCommands(folder / "config.json", "unix:///hub", (sys.executable, "-c", "input()"))


def test_one_that_has_read_the_config_before_a_reload_is_not_kept(tmp_path: Path) -> None:
    config = Config(cameras={"door": CameraConfig(source=0)}, workers=(WorkerConfig(device="numpy"),))
    supervisor = Supervisor(config, asleep(tmp_path))
    supervisor.suspect_worker(0)
    assert len(processes()) == 1
    supervisor.set_config(config)
    eventually(lambda: not processes())
    supervisor.close()


def test_a_worker_that_must_know_its_threads_before_it_loads_has_none(tmp_path: Path) -> None:
    config = Config(cameras={"door": CameraConfig(source=0)}, workers=(WorkerConfig(device="cpu", threads=1),))
    supervisor = Supervisor(config, asleep(tmp_path))
    supervisor.suspect_worker(0)
    assert not processes()
    supervisor.close()


@pytest.mark.deep
def test_a_worker_that_hangs_is_replaced_by_the_spare(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(tmp_path, ["steady"], ["good then hangs", "good"], freshness={"deadline_s": 1.0, "max_age_s": 5})
    seen: set[str] = set()

    def hang() -> None:
        next(each for each in processes() if each.cmdline()[3:5] == ["worker", "0"]).kill()

        def is_replaced() -> bool:
            seen.update(" ".join(found) for found in map(command, processes()) if "--on-request" in found)
            return "held a job past its deadline and was killed" in caplog.text

        eventually(is_replaced)
        goes_on(tmp_path)

    while_it_runs(run, tmp_path, hang)
    assert seen
    assert not processes()
