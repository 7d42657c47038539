"""RTSP from a real server, with the faults that a network camera has; Motion JPEG over HTTP."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from edged.camera.sources.network import without_secrets
from edged.camera.sources.stream import LiveStream
from edged.clock import now_ns, seconds_since
from edged.errors import CameraError
from tests.camera.hub_end import CameraRun, Received, down_report, running_camera, unaccounted
from tests.camera.motion_jpeg import CutMotionJpeg, MotionJpeg, serving
from tests.camera.proxy import Proxy
from tests.camera.rtsp import RtspServer, age_s, skip_without_gstreamer
from tests.eventually import eventually

FRESH_S = 0.5
HELD_S = 1.0  # what a fault holds back is at least so old


@pytest.fixture
def server() -> Iterator[RtspServer]:
    """Not started yet."""
    skip_without_gstreamer()
    server = RtspServer(key_every=25)
    yield server
    server.kill()


def age_of(received: Received) -> float:
    """Of a frame, when it was captured."""
    return age_s(received.pixels, received.frame.captured_ns)


@pytest.mark.promise("a picture of a network camera is at most 0.5 s old")
def test_frames_are_fresh_from_the_first_on(server: RtspServer) -> None:
    server.start()
    stream = LiveStream(server.url)
    stream.open()

    ages = [age_s(stream.read().pixels, now_ns()) for _ in range(25)]

    stream.close()
    assert max(ages) < FRESH_S


def test_a_password_opens_the_stream_and_is_in_no_message() -> None:
    skip_without_gstreamer()
    server = RtspServer("me:s3/c@t:")
    server.start()
    try:
        stream = LiveStream(server.url, "me", lambda: "s3/c@t:")
        stream.open()
        assert stream.read().pixels.shape == (240, 320, 3)
        stream.close()

        with pytest.raises(CameraError) as error:
            LiveStream(f"{server.url}?token=abc", "me", lambda: "wrong").open()
    finally:
        server.kill()
    assert str(error.value).startswith(f"{without_secrets(server.url)} gives no video")
    assert "wrong" not in str(error.value).replace("password is wrong", "")


LONG = "Ü" * 40  # 240 bytes in a URL


@pytest.mark.parametrize("how", ["basic", "digest"])
def test_a_login_that_is_too_long_for_ffmpeg_is_given_in_its_place(how: str) -> None:
    skip_without_gstreamer()
    server = RtspServer(f"me:{LONG}", how=how)
    server.start()
    try:
        stream = LiveStream(server.url, "me", lambda: LONG)
        stream.open()
        assert stream.read().pixels.shape == (240, 320, 3)
        stream.close()

        with pytest.raises(CameraError, match="gives no video: its user or password is wrong"):
            LiveStream(server.url, "me", lambda: f"{LONG}2").open()
    finally:
        server.kill()


def test_a_killed_server_is_noticed_and_found_again(server: RtspServer, tmp_path: Path) -> None:
    server.start()
    with running_camera(tmp_path, "door", f"{{source: '{server.url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(10))

        server.kill()
        report = eventually(lambda: down_report(camera))
        assert report
        assert without_secrets(server.url) in str(report.error)

        server.start()
        before = len(camera.hub.frames)
        eventually(lambda: camera.hub.has_frames(before + 10))
        report = camera.stop()

    assert report.reconnects == 1
    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert max(map(age_of, camera.hub.frames)) < HELD_S


@pytest.mark.deep
def test_a_stalled_server_gives_no_stale_frames(server: RtspServer, tmp_path: Path) -> None:
    server.start()
    with running_camera(tmp_path, "door", f"{{source: '{server.url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(10))

        server.stall()
        report = eventually(lambda: down_report(camera))
        assert report
        assert "stalled" in str(report.error)

        server.go_on()
        before = len(camera.hub.frames)
        eventually(lambda: camera.hub.has_frames(before + 10))
        report = camera.stop()

    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert max(map(age_of, camera.hub.frames)) < HELD_S


def test_an_address_where_nobody_listens_is_tried_again(server: RtspServer, tmp_path: Path) -> None:
    with running_camera(tmp_path, "door", f"{{source: '{server.url}', user: me}}") as camera:
        report = eventually(lambda: down_report(camera))
        assert report
        assert report.error == (
            f"{without_secrets(server.url)} gives no video: the host refuses connections at port {server.port}"
        )

        server.start()
        eventually(lambda: camera.hub.has_frames(5))


def test_a_host_name_that_does_not_resolve_is_reported() -> None:
    with pytest.raises(CameraError, match=r"the host name camera\.invalid cannot be resolved$"):
        LiveStream("rtsp://camera.invalid/live").open()


def test_a_host_that_does_not_answer_is_reported_after_a_second() -> None:
    with socket.socket() as full:  # a queue for one caller, who is there already: the next gets no answer
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with (
            socket.create_connection(full.getsockname()),
            pytest.raises(CameraError, match="no answer within 1 s"),
        ):
            LiveStream(f"rtsp://127.0.0.1:{full.getsockname()[1]}/live").open()


@pytest.mark.parametrize("seconds", [HELD_S, pytest.param(4.0, marks=pytest.mark.deep)])
def test_pictures_that_a_network_held_back_are_known_to_be_old(
    server: RtspServer, tmp_path: Path, seconds: float
) -> None:
    server.start()
    with (
        Proxy(server.port) as proxy,
        running_camera(tmp_path, "door", f"{{source: 'rtsp://127.0.0.1:{proxy.port}/live'}}") as camera,
    ):
        eventually(lambda: camera.hub.has_frames(25))
        with proxy.swallowing():
            start_ns = now_ns()
            eventually(lambda: camera.hub.has_hello() and seconds_since(start_ns) > seconds)
        back_ns = now_ns()
        eventually(lambda: camera.hub.has_frames() and captured_ns(camera)[-1] > back_ns + 5e8)
        report = camera.stop()

    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert max(abs(age_of(each)) for each in camera.hub.frames) < HELD_S
    assert captured_ns(camera) == sorted(captured_ns(camera))
    assert report.reconnects == (seconds > 2)


def captured_ns(camera: CameraRun) -> list[int]:
    """Of all frames that have come."""
    return [each.frame.captured_ns for each in camera.hub.frames]


@pytest.mark.deep
def test_a_camera_that_sent_nothing_in_time_is_given_more_time(server: RtspServer) -> None:
    server.start()
    stream = LiveStream(server.url)
    for seconds in (2, 4):
        stream.open()
        server.stall()

        with pytest.raises(CameraError, match=f"no picture for {seconds} s"):
            read_until_it_fails(stream)

        server.go_on()


@pytest.mark.deep
def test_a_time_out_of_the_config_stays(server: RtspServer) -> None:
    server.start()
    stream = LiveStream(server.url, timeout_s=0.5)
    for _ in range(2):
        stream.open()
        server.stall()

        with pytest.raises(CameraError, match=r"no picture for 0\.5 s"):
            read_until_it_fails(stream)

        server.go_on()


def test_the_hub_hears_how_long_a_camera_may_wait_for_its_next_picture(tmp_path: Path) -> None:
    with serving(MotionJpeg) as url, running_camera(tmp_path, "door", f"{{source: '{url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(2))
        eventually(lambda: (report := camera.hub.last_report()) and report.up and report.longest_wait_s == 2)
        waits = [report.longest_wait_s for report in camera.hub.reports]
        camera.stop()

    assert max(waits) == 10  # until the second picture has come


def test_pictures_that_are_cut_short_are_dropped_and_counted(tmp_path: Path) -> None:
    with serving(CutMotionJpeg) as url, running_camera(tmp_path, "door", f"{{source: '{url}'}}") as camera:
        eventually(lambda: camera.hub.has_frames(20))
        report = camera.stop()
        log = camera.process.stderr.read() if camera.process.stderr else ""

    assert report.count.dropped["unreadable"] >= 5
    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert {round(frame.pixels.mean()) for frame in camera.hub.frames} <= {119, 120, 121}
    assert log.count("/… is cut short: a JPEG without its end; it is left out") == 1


def read_until_it_fails(stream: LiveStream) -> None:
    while True:
        stream.read()
