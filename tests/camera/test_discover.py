from pathlib import Path

from edged.camera.discover import list_cameras


def test_a_host_without_cameras_has_none(tmp_path: Path) -> None:
    assert list_cameras(tmp_path / "absent", tmp_path) == ()


def test_a_device_that_cannot_be_opened_is_listed_with_the_reason(tmp_path: Path) -> None:
    # given what the kernel and udev make, but a plain file for a device
    node = tmp_path / "sys/video0"
    node.mkdir(parents=True)
    (node / "name").write_text("Integrated Camera\n")
    by_id = tmp_path / "dev/v4l/by-id"
    by_id.mkdir(parents=True)
    (tmp_path / "dev/video0").touch()
    (by_id / "usb-cam-index0").symlink_to("../../video0")

    (camera,) = list_cameras(tmp_path / "sys", tmp_path / "dev")

    assert camera.name == "Integrated Camera"
    assert camera.path == str(by_id / "usb-cam-index0")
    assert not camera.usable
    assert camera.problem == "inappropriate ioctl for device"


def test_a_node_whose_device_is_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "sys/video10").mkdir(parents=True)
    (tmp_path / "sys/video9").mkdir(parents=True)

    cameras = list_cameras(tmp_path / "sys", tmp_path / "dev")

    assert [camera.name for camera in cameras] == ["video9", "video10"]
    assert {camera.problem for camera in cameras} == {"no such file or directory"}
