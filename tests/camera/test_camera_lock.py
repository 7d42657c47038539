"""One process a camera: another one that is stuck keeps it, and is named."""

import signal
from pathlib import Path

import pytest

from edged.camera.sources.v4l2 import V4l2
from edged.errors import CameraError
from edged.system.exclusive_lock import state_of
from tests.eventually import eventually
from tests.system.lock_holder import held_by_another


def test_a_camera_that_a_stopped_process_holds_is_refused_whatever_name_it_goes_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    device, link = tmp_path / "video0", tmp_path / "by-id"
    device.touch()
    link.symlink_to(device)

    with held_by_another(f"camera-{device}") as holder:
        holder.send_signal(signal.SIGSTOP)
        eventually(lambda: state_of(holder.pid) == "T")
        with pytest.raises(CameraError, match=rf"by process {holder.pid} .*stopped \(state T\): `kill -CONT"):
            V4l2(str(link)).open()

    with pytest.raises(CameraError, match="it is not a camera"):  # free now
        V4l2(str(link)).open()
    with pytest.raises(CameraError, match="it is not a camera"):  # and ours to open again
        V4l2(str(link)).open()
