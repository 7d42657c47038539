"""A network camera whose picture stands still, and one that moves again."""

import sys
from pathlib import Path

import pytest

from tests.camera.motion_jpeg import MotionJpeg, serving
from tests.conftest import ROOT
from tests.e2e.camera_witness import watched
from tests.eventually import eventually


class Freezes(MotionJpeg):
    """For three seconds."""

    levels = (120,) * 75 + tuple(range(50, 150))


@pytest.mark.deep
def test_a_frozen_picture_is_announced_and_the_other_camera_goes_on(tmp_path: Path) -> None:
    with serving(Freezes) as url, watched(tmp_path, gate={"source": url, "frozen_s": 1}) as (_, witness):
        eventually(lambda: witness.of("gate"))
        assert "same picture" in witness.hears("camera_frozen", "gate").message
        eventually(lambda: witness.metric("edged_camera_frozen", "gate") == 1)
        assert witness.hears("camera_unfrozen", "gate").at > witness.hears("camera_frozen", "gate").at
        eventually(lambda: witness.metric("edged_camera_frozen", "gate") == 0)
        assert not witness.events_of("camera_frozen", "calm")


@pytest.mark.deep
def test_a_sensor_that_hangs_behind_a_living_encoder_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    source = f"exec:{sys.executable} -m tests.e2e.hanging_sensor"
    with watched(tmp_path, gate={"source": source, "frozen_s": 2, "still_s": 3}) as (_, witness):
        frozen = witness.hears("camera_frozen", "gate")
        assert "nothing in its scene has changed" in frozen.message
        assert witness.hears("camera_unfrozen", "gate").at > frozen.at
