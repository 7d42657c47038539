"""A child process: what the system refuses, and what it may know."""

import errno
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.clock import nanoseconds, now_ns
from edged.config import CameraConfig, Config
from edged.hub.cameras.cameras import CameraProcesses
from edged.hub.children.child import STOPPED_S, Child
from edged.hub.children.command import ChildEnvironment
from edged.hub.events import HubEvent
from edged.hub.signals import Signals
from tests.eventually import LIMIT_S, eventually
from tests.hub.refused_start import refused_by_the_system

SLEEPS = ("sleep", "60")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.EAGAIN, "Resource temporarily unavailable"),
        (errno.ENOMEM, "Cannot allocate memory"),
        (errno.EMFILE, "Too many open files"),
        (errno.ENOENT, "No such file or directory"),
    ],
)
def test_a_camera_process_that_the_system_refuses_is_lost_and_started_later(
    monkeypatch: pytest.MonkeyPatch, number: int, why: str
) -> None:
    monkeypatch.setattr(subprocess, "Popen", refused_by_the_system(number, 2))
    cameras = CameraProcesses(["door"], lambda name: Child(f"camera/{name}", SLEEPS))
    notices: list[HubEvent] = []

    def running() -> bool:
        notices.extend(cameras.step(now_ns()))
        return bool(cameras.running)

    eventually(running)
    cameras.kill("door")
    assert [notice.event for notice in notices] == ["camera_lost", "camera_lost"]
    assert notices[0].message == f"camera process door could not be started: {why}; it starts again at once"
    assert notices[1].message.endswith("it starts again in 0.5 s")
    eventually(lambda: any("killed" in notice.message for notice in cameras.step(now_ns())))
    cameras.kill("door")


def test_a_start_that_the_system_refuses_is_due_again_at_once_so_that_the_loop_hears_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subprocess, "Popen", refused_by_the_system(errno.EAGAIN, 1))
    child = Child("camera/door", SLEEPS)
    now = now_ns()
    child.start_if_due(now)
    assert not child.running
    assert child.due_ns == now
    assert child.exit_code() == 1000 + errno.EAGAIN
    assert child.exit_code() is None


@pytest.fixture
def sleeper() -> Iterator[Child]:
    """A child that runs."""
    child = Child("camera/door", SLEEPS)
    child.start_if_due(now_ns())
    yield child
    child.signal(signal.SIGKILL)
    eventually(child.exit_code)


def test_a_child_that_is_stopped_has_half_a_second_from_when_it_was_seen(sleeper: Child) -> None:
    half_a_second = nanoseconds(STOPPED_S)
    assert not sleeper.has_stood_still(1000)
    assert sleeper.next_step_ns is None
    sleeper.signal(signal.SIGSTOP)

    def is_seen() -> bool:
        assert not sleeper.has_stood_still(1000)
        return sleeper.next_step_ns == 1000 + half_a_second

    eventually(is_seen)
    assert not sleeper.has_stood_still(999 + half_a_second)
    assert sleeper.has_stood_still(1000 + half_a_second)


def test_a_child_that_goes_on_in_time_was_only_stopped_for_a_moment(sleeper: Child) -> None:
    sleeper.signal(signal.SIGSTOP)
    eventually(lambda: not sleeper.has_stood_still(1000) and sleeper.next_step_ns)
    sleeper.signal(signal.SIGCONT)
    eventually(lambda: not sleeper.has_stood_still(1000) and sleeper.next_step_ns is None)
    assert not sleeper.has_stood_still(1000 + nanoseconds(STOPPED_S))


def test_a_child_that_is_stopped_wakes_the_loop_and_is_killed(sleeper: Child) -> None:
    cameras = CameraProcesses(["door"], lambda name: sleeper)
    with Signals() as signals:
        sleeper.signal(signal.SIGSTOP)
        assert select.select([signals.fileno()], [], [], LIMIT_S)[0]  # by the kernel, not by a timer
        now = now_ns()
        assert cameras.step(now) == []
        assert cameras.next_due_ns() == now + nanoseconds(STOPPED_S)
        cameras.step(now + nanoseconds(STOPPED_S))
        lost = eventually(lambda: cameras.step(now + nanoseconds(STOPPED_S)))
    assert lost[0].message == (
        "camera process door was stopped by a signal and was killed; it starts again at once"
    )
    eventually(lambda: cameras.step(now_ns()) == [] and sleeper.running)


def environment_of(child: Child) -> dict[str, str]:
    """What its process was given, as the kernel shows it; nothing until its program is loaded."""
    assert child._process
    given = Path(f"/proc/{child._process.pid}/environ")
    entries = eventually(given.read_text).split("\0")
    return dict(entry.partition("=")[::2] for entry in entries if entry)


def test_the_password_of_an_environment_variable_reaches_its_camera_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR", "hunter2")
    monkeypatch.setenv("YARD", "hunter3")
    cameras = {
        "door": CameraConfig(source=0, password_env="DOOR"),
        "yard": CameraConfig(source=1, password_env="YARD"),
    }
    environment = ChildEnvironment(Config(cameras=cameras))
    made = {
        "door": Child("camera/door", SLEEPS, lambda: environment.of_camera("door")),
        "yard": Child("camera/yard", SLEEPS, lambda: environment.of_camera("yard")),
        "local-0": Child("worker/local-0", SLEEPS, environment.of_worker),
    }
    for child in made.values():
        child.start_if_due(now_ns())
    seen = {name: {"DOOR", "YARD"} & environment_of(child).keys() for name, child in made.items()}
    for child in made.values():
        child.signal(signal.SIGKILL)
        eventually(child.exit_code)
    assert seen == {"door": {"DOOR"}, "yard": {"YARD"}, "local-0": set()}


def test_a_password_that_a_reload_names_no_more_stays_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOOR", "hunter2")
    environment = ChildEnvironment(Config(cameras={"door": CameraConfig(source=0, password_env="DOOR")}))
    environment.set_config(Config(cameras={"door": CameraConfig(source=0)}))
    assert "DOOR" not in environment.of_camera("door")
    assert "DOOR" not in environment.of_worker()
