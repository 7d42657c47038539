from pathlib import Path

import pytest

from edged import config
from edged.camera.sources import is_paced_by_grants, open_source
from edged.camera.sources.folder import Folder
from edged.camera.sources.http_pictures import HttpCamera
from edged.camera.sources.network import without_secrets
from edged.camera.sources.stream import LiveStream, with_credentials
from edged.camera.sources.v4l2 import V4l2
from edged.camera.sources.video_file import VideoFile
from edged.errors import CameraError


@pytest.mark.parametrize("source", [0, "0", "/dev/video7", "/dev/v4l/by-id/usb-cam-index0"])
def test_a_number_or_device_is_a_v4l2_camera(source: str | int) -> None:
    assert isinstance(open_source(config.CameraConfig(source=source)), V4l2)


@pytest.mark.parametrize(
    ("source", "kind"),
    [("rtsp://cam/live", LiveStream), ("http://cam:8080/mjpeg", HttpCamera), ("HTTPS://cam/x.mp4", HttpCamera)],
)
def test_a_url_is_a_stream(source: str, kind: type) -> None:
    assert isinstance(open_source(config.CameraConfig(source=source)), kind)


def test_files_and_folders_are_distinguished(tmp_path: Path) -> None:
    (tmp_path / "odd.name").touch()

    assert isinstance(open_source(config.CameraConfig(source=str(tmp_path))), Folder)
    assert isinstance(open_source(config.CameraConfig(source=str(tmp_path / "odd.name"))), VideoFile)
    assert isinstance(open_source(config.CameraConfig(source=str(tmp_path / "still-to-come.mp4"))), VideoFile)


def test_a_path_that_does_not_exist_says_what_a_source_can_be() -> None:
    with pytest.raises(CameraError, match=r"nowhere does not exist; a source is .*rtsp://.*synthetic:digits"):
        open_source(config.CameraConfig(source="nowhere")).open()


def test_folders_wait_for_grants_and_videos_where_the_config_says(tmp_path: Path) -> None:
    folder, video = str(tmp_path), "clip.mp4"

    assert is_paced_by_grants(config.CameraConfig(source=folder))
    assert not is_paced_by_grants(config.CameraConfig(source=folder, pace="realtime"))
    assert not is_paced_by_grants(config.CameraConfig(source=folder, fps=2))
    assert is_paced_by_grants(config.CameraConfig(source=folder, fps=2, pace="fast"))
    assert not is_paced_by_grants(config.CameraConfig(source=video))
    assert is_paced_by_grants(config.CameraConfig(source=video, pace="fast"))
    assert not is_paced_by_grants(config.CameraConfig(source="rtsp://cam/live", pace="fast"))


def test_a_missing_device_is_named() -> None:
    with pytest.raises(CameraError, match=r"/dev/video97 does not exist: see `edged devices`"):
        V4l2(97).open()


def test_a_device_that_is_no_camera_is_named() -> None:
    with pytest.raises(CameraError, match=r"/dev/null cannot be opened"):
        V4l2("/dev/null").open()


def test_credentials_go_into_the_url_encoded() -> None:
    assert with_credentials("rtsp://cam/live", "me", "a/b@c:") == "rtsp://me:a%2Fb%40c%3A@cam/live"
    assert with_credentials("rtsp://me@cam:554/live?x=1", None, "pw") == "rtsp://me:pw@cam:554/live?x=1"
    assert with_credentials("rtsp://cam/live", None, None) == "rtsp://cam/live"
    assert with_credentials("http://cam/x?u={user}&p={password}", "me", "a&b") == "http://cam/x?u=me&p=a%26b"
    assert with_credentials("rtsp://cam/password={password}_1", "me", "pw") == "rtsp://cam/password=pw_1"


def test_messages_show_no_secret() -> None:
    assert without_secrets("rtsp://me:pw@cam:554/live?token=abc#x") == "rtsp://cam:554/…"
    assert without_secrets("rtsp://cam/user=admin_password=pw_channel=1.sdp") == "rtsp://cam/…"
    assert without_secrets("http://[::1]:80?pwd=x") == "http://[::1]:80/…"
    assert without_secrets("rtsp://cam/") == "rtsp://cam"


@pytest.mark.parametrize("url", ["rtsp://", "rtsp://[bad", "http://cam:99999/x"])
def test_a_url_without_a_possible_host_is_a_mistake_in_the_config(url: str) -> None:
    with pytest.raises(ValueError, match="source"):
        config.CameraConfig(source=url)
