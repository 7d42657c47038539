"""A real Video4Linux device, where there is one."""

import pytest

from edged.camera.discover import list_cameras
from edged.camera.sources.v4l2 import V4l2
from edged.errors import CameraError


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
