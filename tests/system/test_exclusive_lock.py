"""A lock between processes: who has it, who is refused, and how it comes free."""

import os
import signal
from pathlib import Path

import pytest

from edged.errors import DeviceError
from edged.system.exclusive_lock import hold, state_of
from tests.disks import an_ext4, frozen
from tests.eventually import LIMIT_S, eventually
from tests.system.lock_holder import held_by_another, write_to


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    return tmp_path / "edged"


def test_a_second_process_is_refused_with_the_name_of_the_holder() -> None:
    with (
        held_by_another("device-a") as holder,
        pytest.raises(DeviceError, match=rf"device-a is in use by process {holder.pid} \(edged worker 0\)"),
    ):
        hold("device-a", within_s=0.1)


def test_of_a_stopped_holder_it_is_said_how_to_continue_or_end_it() -> None:
    with held_by_another("camera-/dev/video0") as holder:
        holder.send_signal(signal.SIGSTOP)
        eventually(lambda: state_of(holder.pid) == "T")
        with pytest.raises(DeviceError, match=rf"is stopped \(state T\): `kill -CONT {holder.pid}`"):
            hold("camera-/dev/video0", within_s=0.1)


def test_of_a_holder_that_is_stuck_in_the_kernel_it_is_said_that_nothing_helps_but_its_driver(
    tmp_path: Path,
) -> None:
    with an_ext4(tmp_path) as disk, held_by_another("camera-/dev/video0") as holder:
        with frozen(disk):
            write_to(holder, disk / "file")
            eventually(lambda: state_of(holder.pid) == "D")
            holder.kill()
            with pytest.raises(DeviceError, match=rf"by process {holder.pid} .* stuck in the kernel \(state D\)"):
                hold("camera-/dev/video0", within_s=0.1)
        assert hold("camera-/dev/video0", within_s=LIMIT_S) > 0


def test_it_is_free_once_its_holder_was_killed_and_that_is_waited_for() -> None:
    with held_by_another("device-b") as holder:
        holder.kill()
        assert hold("device-b", within_s=LIMIT_S) > 0


def test_two_things_do_not_exclude_each_other() -> None:
    with held_by_another("camera-/dev/video0"):
        assert hold("camera-/dev/video1") != hold("camera-/dev/video2")


def test_the_same_process_may_ask_again_and_no_program_that_it_starts_inherits_it() -> None:
    descriptor = hold("device-c")
    assert hold("device-c") == descriptor
    assert not os.get_inheritable(descriptor)


def test_where_no_file_can_be_made_there_is_a_warning_and_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert hold("device-d") == -1
    assert "device-d is not locked against a second edged" in caplog.text


def test_a_file_that_cannot_be_written_locks_all_the_same(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    (state / "locks").mkdir(parents=True)
    (state / "locks" / "device-e.lock").symlink_to(f"/proc/{os.getpid()}/limits")  # nobody else locks it
    assert hold("device-e") > 0
    assert "does not name its holder" in caplog.text
