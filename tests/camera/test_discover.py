from pathlib import Path

import pytest

from edged.camera import discover
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


def test_two_cameras_of_one_model_are_distinguished_by_their_sockets(tmp_path: Path) -> None:
    # given that udev has one link by name for both, which leads to the one that came last
    for folder in ("dev/v4l/by-id", "dev/v4l/by-path"):
        (tmp_path / folder).mkdir(parents=True)
    for number in (0, 2):
        node = tmp_path / f"sys/video{number}"
        node.mkdir(parents=True)
        (node / "name").write_text("C270 HD WEBCAM\n")
        (tmp_path / f"dev/video{number}").touch()
        (tmp_path / f"dev/v4l/by-path/usb-1.{number}-index0").symlink_to(f"../../video{number}")
    (tmp_path / "dev/v4l/by-id/usb-C270-index0").symlink_to("../../video2")

    paths = [camera.path for camera in list_cameras(tmp_path / "sys", tmp_path / "dev")]

    assert [Path(path).name for path in paths] == ["usb-1.0-index0", "usb-1.2-index0"]


def test_a_camera_at_the_connector_of_a_raspberry_pi_names_the_program_that_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given the nodes that its drivers make, as devices that answer
    monkeypatch.setattr(discover, "_formats", lambda _: ("pRAA",))
    for number, name in enumerate(("unicam-image", "bcm2835-isp-capture0", "rp1-cfe-csi2_ch0")):
        node = tmp_path / f"sys/video{number}"
        node.mkdir(parents=True)
        (node / "name").write_text(f"{name}\n")

    cameras = list_cameras(tmp_path / "sys", tmp_path / "dev")

    assert [camera.name for camera in cameras] == ["unicam-image", "rp1-cfe-csi2_ch0"]
    assert all("exec:rpicam-vid" in str(camera.problem) for camera in cameras)
