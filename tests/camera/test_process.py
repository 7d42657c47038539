"""A real camera process, driven through the link."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from edged.messages import CameraCount, CameraReport, Capture, Hold, SnapshotSettings, Stop
from edged.messages.preparation import Resize
from edged.pictures.prepare import Region, fitted
from tests.camera.hub_end import SIDE, grant, running_camera, unaccounted
from tests.camera.pictures import plain, write_picture, write_video
from tests.eventually import LIMIT_S, eventually

NOTHING = CameraReport(camera="door", up=False, count=CameraCount(captured=0, dropped={}))


def folder_of(path: Path, pictures: int) -> Path:
    """Pictures whose grey level is their number times ten."""
    for number in range(pictures):
        write_picture(path / f"label/{number:03}.png", plain(10 * number))
    return path


def test_a_folder_is_sent_picture_by_picture_as_granted(tmp_path: Path) -> None:
    pictures = folder_of(tmp_path / "pictures", 5)

    with running_camera(tmp_path, "door", f"{{source: {pictures}}}") as camera:
        for number in range(1, 6):
            grant(camera.hub)
            eventually(partial(camera.hub.has_frames, number))
            assert len(camera.hub.frames) == number
        grant(camera.hub)  # the sixth finds the end
        report = camera.last_words()

    frames = camera.hub.frames
    assert [round(received.pixels.mean()) for received in frames] == [0, 10, 20, 30, 40]
    assert [received.frame.frame for received in frames] == [0, 1, 2, 3, 4]
    assert {received.frame.truth for received in frames} == {"label"}
    assert {received.pixels.shape for received in frames} == {(SIDE, SIDE, 3)}
    assert report.count.captured == 5
    assert unaccounted(report.count, 5) == 0


def test_a_camera_that_waits_reads_nothing_before_it_may(tmp_path: Path) -> None:
    with running_camera(tmp_path, "door", f"{{source: {folder_of(tmp_path / 'pictures', 3)}}}") as camera:
        eventually(camera.hub.last_report)
        assert camera.hub.hello
        assert camera.hub.hello.awaits_grants
        assert camera.stop().count.captured == 0


def test_a_camera_that_is_held_drops_its_pictures_unprepared(tmp_path: Path) -> None:
    with running_camera(tmp_path, "door", "{source: 'synthetic:digits', size: [64, 48], fps: 200}") as camera:
        eventually(camera.hub.has_frames)
        assert camera.hub.hello
        assert camera.hub.hello.can_be_held
        camera.hub.send(Hold(until_ns=2**62))
        eventually(lambda: (camera.hub.last_report() or NOTHING).count.dropped.get("superseded", 0) > 50)
        seen = len(camera.hub.frames)

        camera.hub.send(Hold(until_ns=0))
        eventually(lambda: camera.hub.has_frames(seen + 10))
        report = camera.stop()

    assert unaccounted(report.count, len(camera.hub.frames)) == 0


def test_a_camera_that_is_held_still_sends_its_snapshots(tmp_path: Path) -> None:
    wish = SnapshotSettings(every_s=0.05, width=32, quality=70, max_bytes=20_000)
    with running_camera(tmp_path, "door", "{source: 'synthetic:digits', size: [64, 48], fps: 200}") as camera:
        eventually(camera.hub.has_frames)
        camera.hub.send(Hold(until_ns=2**62))
        camera.hub.send(Capture(width=SIDE, height=SIDE, snapshot=wish))
        eventually(lambda: camera.hub.has_frames(0) and len(camera.hub.snapshots) >= 3)
        report = camera.stop()

    assert report.count.dropped["superseded"] > 0
    assert unaccounted(report.count, len(camera.hub.frames)) == 0


def test_an_unreadable_picture_is_counted_named_once_and_takes_no_grant(tmp_path: Path) -> None:
    pictures = folder_of(tmp_path / "pictures", 2)
    (pictures / "broken.png").write_text("not a picture")  # sorts before label/

    with running_camera(tmp_path, "door", f"{{source: {pictures}, at_end: loop}}") as camera:
        grant(camera.hub, 4)
        eventually(lambda: camera.hub.has_frames(4))
        report = camera.stop()
        stderr = camera.process.stderr
        assert stderr
        log = stderr.read()

    assert report.count.dropped == {"unreadable": 2}
    assert unaccounted(report.count, 4) == 0
    assert log.count("broken.png") == 1
    assert "Traceback" not in log


def test_a_frame_is_made_as_the_hub_says_unless_the_camera_says_how(tmp_path: Path) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (90, 150, 3), np.uint8)
    write_picture(tmp_path / "pictures/a.png", picture)

    cases: dict[str, Resize] = {"": "center-crop", ", fit: crop": "crop"}
    for fit, resize in cases.items():
        settings = f"{{source: {tmp_path / 'pictures'}{fit}}}"
        with running_camera(tmp_path, "door", settings, capture=False) as camera:
            eventually(camera.hub.has_hello)
            camera.hub.send(Capture(width=SIDE, height=SIDE, resize="center-crop"))
            grant(camera.hub, 2)
            camera.last_words()

        expected = fitted(picture, SIDE, SIDE, resize=resize)
        assert np.array_equal(camera.hub.frames[0].pixels, expected), resize


def test_a_frame_says_which_region_it_shows_and_where_that_lies_in_it(tmp_path: Path) -> None:
    write_picture(tmp_path / "pictures/a.png", np.zeros((100, 200, 3), np.uint8))
    cases: dict[str, tuple[Region | None, Region | None]] = {
        "": (None, None),  # it is stretched: it fills the frame
        ", fit: pad": (None, (0, 2, 8, 4)),
        ", fit: crop": (None, (-4, 0, 16, 8)),
        ", fit: corner, roi: [0.5, 0, 1, 0.5]": ((0.5, 0, 1, 0.5), (0, 0, 8, 4)),
    }

    for keys, expected in cases.items():
        settings = f"{{source: {tmp_path / 'pictures'}{keys}}}"
        with running_camera(tmp_path, "door", settings, capture=False) as camera:
            eventually(camera.hub.has_hello)
            camera.hub.send(Capture(width=8, height=8))
            grant(camera.hub, 2)
            camera.last_words()

        assert (camera.hub.frames[0].frame.region, camera.hub.frames[0].frame.place) == expected, keys


def test_snapshots_come_while_they_are_asked_for_each_of_a_frame_that_was_sent(tmp_path: Path) -> None:
    pictures = folder_of(tmp_path / "pictures", 9)

    with running_camera(tmp_path, "door", f"{{source: {pictures}}}") as camera:
        grant(camera.hub, 3)
        eventually(lambda: camera.hub.has_frames(3))
        wish = SnapshotSettings(every_s=0.0001, width=40, quality=90, max_bytes=10_000)
        camera.hub.send(Capture(width=SIDE, height=SIDE, snapshot=wish))
        grant(camera.hub, 3)
        eventually(lambda: camera.hub.has_frames(6))
        camera.hub.send(Capture(width=SIDE, height=SIDE))
        grant(camera.hub, 4)
        camera.last_words()

    shown = [snapshot.frame for snapshot, _ in camera.hub.snapshots]
    assert shown[0] == 3
    assert shown in ([3], [3, 4], [3, 5], [3, 4, 5])  # one for which the link has no room is left out
    for snapshot, jpeg in camera.hub.snapshots:
        frame = camera.hub.frames[snapshot.frame]
        pixels = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
        assert pixels is not None
        assert pixels.shape == (snapshot.height, snapshot.width, 3) == (30, 40, 3)
        assert abs(pixels.mean() - frame.pixels.mean()) < 2
        assert snapshot.captured_at == frame.frame.captured_at


@pytest.mark.deep
def test_a_video_comes_in_real_time_and_ends(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(90)] * 20, fps=50)

    with running_camera(tmp_path, "door", f"{{source: {video}}}") as camera:
        eventually(camera.hub.has_ended)
        report = camera.last_words()

    assert report.count.captured == 20
    assert unaccounted(report.count, len(camera.hub.frames)) == 0
    assert camera.hub.reports[0].up
    assert not report.up
    times = [received.frame.captured_ns for received in camera.hub.frames]
    assert times[-1] - times[0] >= 0.37e9


def test_what_the_gate_drops_is_counted_by_reason(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(90)] * 20 + [plain(200)] * 20, fps=100)

    with running_camera(tmp_path, "door", f"{{source: {video}, motion: 0.1, max_fps: 50}}") as camera:
        eventually(camera.hub.has_ended)
        report = camera.last_words()

    assert len(camera.hub.frames) == 2
    assert report.count.captured == 40
    assert set(report.count.dropped) == {"motion", "max_fps"}
    assert unaccounted(report.count, 2) == 0


def test_each_frame_carries_the_count_so_far(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(90)] * 30, fps=100)

    with running_camera(tmp_path, "door", f"{{source: {video}, max_fps: 40}}") as camera:
        eventually(camera.hub.has_ended)

    assert camera.hub.frames
    for number, received in enumerate(camera.hub.frames):
        assert unaccounted(received.frame.count, number + 1) == 0
        assert received.frame.count.captured == received.frame.frame + 1


@pytest.mark.deep
def test_many_grants_at_once_lose_nothing(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(90)] * 60)

    with running_camera(tmp_path, "door", f"{{source: {video}, pace: fast}}") as camera:
        grant(camera.hub, 64)
        eventually(camera.hub.has_ended)
        report = camera.last_words()

    assert len(camera.hub.frames) == 60
    assert report.count.dropped == {}


@pytest.mark.deep
def test_a_hub_that_is_slow_to_read_gets_fewer_frames_and_none_is_lost_from_the_count(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(90)] * 400, fps=1000)

    with running_camera(tmp_path, "door", f"{{source: {video}, at_end: loop}}", side=200) as camera:
        eventually(lambda: "link_full" in camera.hub.dropped_slowly())
        report = camera.stop()

    assert set(report.count.dropped) == {"link_full"}
    assert unaccounted(report.count, len(camera.hub.frames)) == 0


@pytest.mark.deep
def test_a_missing_camera_is_reported_and_tried_again_until_it_is_there(tmp_path: Path) -> None:
    video = tmp_path / "later.avi"

    with running_camera(tmp_path, "door", f"{{source: {video}}}") as camera:
        report = eventually(camera.hub.last_report)
        assert report
        assert not report.up
        assert report.error
        assert "later.avi does not exist" in report.error

        write_video(tmp_path / "made.avi", [plain(90)] * 5).rename(video)
        eventually(camera.hub.has_frames)
        assert camera.last_words().reconnects == 1


def test_sigterm_ends_a_camera_at_once(tmp_path: Path) -> None:
    settings = f"{{source: {folder_of(tmp_path / 'pictures', 2)}, pace: realtime, fps: {1 / (10 * LIMIT_S)}}}"

    with running_camera(tmp_path, "door", settings) as camera:
        eventually(camera.hub.has_frames)
        camera.process.send_signal(signal.SIGTERM)  # in the middle of a wait

        assert camera.process.wait(LIMIT_S) == -signal.SIGTERM


def test_ctrl_c_is_left_to_the_hub(tmp_path: Path) -> None:
    with running_camera(tmp_path, "door", f"{{source: {folder_of(tmp_path / 'pictures', 1)}}}") as camera:
        eventually(camera.hub.last_report)
        camera.process.send_signal(signal.SIGINT)
        grant(camera.hub)
        eventually(camera.hub.has_frames)


def test_a_camera_that_the_hub_refuses_says_why(tmp_path: Path) -> None:
    settings = f"{{source: {folder_of(tmp_path / 'pictures', 1)}}}"
    with running_camera(tmp_path, "door", settings, capture=False) as camera:
        eventually(camera.hub.has_hello)
        camera.hub.send(Stop(refused="protocol 1 is too old"))

        assert camera.process.wait(LIMIT_S) == 4
        assert camera.process.stderr
        assert camera.process.stderr.read() == "edged: the hub refuses camera door: protocol 1 is too old\n"


def test_a_camera_that_is_not_in_the_config_is_one_clear_error(tmp_path: Path) -> None:
    config = tmp_path / "edged.yaml"
    config.write_text("cameras: {door: {source: 0}}")
    command = [sys.executable, "-m", "edged", "camera", "gate", "--config", str(config), "--hub", "ipc://nowhere"]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert ended.stderr == f"edged: {config} has no camera 'gate'; it has door\n"


@pytest.mark.deep
def test_a_slow_source_reports_between_its_pictures(tmp_path: Path) -> None:
    pictures = folder_of(tmp_path / "pictures", 2)

    with running_camera(tmp_path, "door", f"{{source: {pictures}, pace: realtime, fps: 0.2}}") as camera:
        eventually(camera.hub.has_frames)
        eventually(lambda: camera.hub.last_report() and len(camera.hub.reports) >= 3)
        assert len(camera.hub.frames) == 1
        assert camera.hub.reports[-1].up


def test_a_camera_reports_while_it_waits_for_the_model(tmp_path: Path) -> None:
    settings = f"{{source: {folder_of(tmp_path / 'pictures', 1)}}}"
    with running_camera(tmp_path, "door", settings, capture=False) as camera:
        eventually(camera.hub.has_hello)
        report = eventually(camera.hub.last_report)
        assert report
        assert not report.up
