"""A real Video4Linux device, where there is one, and one that gives Motion JPEG."""

from pathlib import Path

import cv2
import pytest

from edged.camera.discover import list_cameras
from edged.camera.sources.v4l2 import V4l2
from edged.errors import CameraError
from tests.camera.hub_end import down_report, running_camera, unaccounted
from tests.camera.pictures import plain
from tests.camera.v4l2_camera import v4l2_camera
from tests.eventually import eventually


@pytest.fixture
def device() -> str:
    """The path of a camera that can be opened."""
    usable = [camera.path for camera in list_cameras() if camera.usable]
    if not usable:
        pytest.skip("no camera device: none of /dev/video* can be opened (the kernel module vivid makes one)")
    return usable[0]


def test_a_camera_gives_pictures_and_can_be_opened_again(device: str) -> None:
    camera = V4l2(device, (640, 480), 30.0)

    for _ in range(2):
        camera.open()
        assert camera.read().pixels.shape[2] == 3
        camera.close()


def test_a_camera_in_use_says_so(device: str) -> None:
    first, second = V4l2(device), V4l2(device)
    first.open()
    first.read()

    with pytest.raises(CameraError, match="another program uses it"):
        second.open()
    first.close()


JPEG = cv2.imencode(".jpg", plain(120))[1].tobytes()
HALF = JPEG[: len(JPEG) // 2]


def test_pictures_of_a_jpeg_camera_that_are_cut_short_are_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = [JPEG, JPEG, JPEG, HALF]
    with (
        v4l2_camera(tmp_path, pictures, monkeypatch) as device,
        running_camera(tmp_path, "door", f"{{source: '{device}'}}") as camera,
    ):
        eventually(lambda: camera.hub.has_frames(20))
        report = camera.stop()

    assert report.count.dropped["unreadable"] >= 5
    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert {round(frame.pixels.mean()) for frame in camera.hub.frames} <= {119, 120, 121}


@pytest.mark.deep
def test_a_jpeg_camera_without_a_whole_picture_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        v4l2_camera(tmp_path, [HALF], monkeypatch) as device,
        running_camera(tmp_path, "door", f"{{source: '{device}'}}") as camera,
    ):
        report = eventually(lambda: down_report(camera))
        camera.stop()

    assert report
    expected = f"{device} sends no complete picture any more: a picture of {device} is cut short"
    assert expected in (report.error or "")
    assert not camera.hub.frames


@pytest.mark.parametrize("keys", ["format: mjpeg", "size: [1280, 720]"])
def test_a_camera_that_would_give_raw_pictures_gives_jpegs_where_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str
) -> None:
    monkeypatch.setenv("V4L2_RAW", "1")
    with (
        v4l2_camera(tmp_path, [JPEG], monkeypatch) as device,
        running_camera(tmp_path, "door", f"{{source: '{device}', {keys}}}") as camera,
    ):
        eventually(lambda: camera.hub.has_frames(3))
        camera.stop()

    assert {round(frame.pixels.mean()) for frame in camera.hub.frames} <= {119, 120, 121}
