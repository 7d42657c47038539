"""A network camera whose picture stands still, and one that moves again."""

from pathlib import Path

import pytest

from tests.camera.motion_jpeg import MotionJpeg, serving
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
