import struct
from pathlib import Path

import numpy as np
import pytest

from edged.camera.sources.source import Picture, Source
from edged.camera.sources.video_file import VideoFile
from edged.clock import NANOSECONDS, now_ns, seconds_since
from edged.errors import CameraError
from tests.camera.pictures import plain, write_av1, write_video


def read_all(source: Source) -> list[Picture]:
    """Every picture up to the end."""
    source.open()
    pictures = list(iter(source.read, None))
    source.close()
    return [picture for picture in pictures if picture]


def test_a_video_gives_every_picture_in_order(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", [plain(level) for level in (10, 80, 150, 220)])

    pictures = read_all(VideoFile(path, realtime=False))

    assert [round(picture.pixels.mean() / 10) for picture in pictures] == [1, 8, 15, 22]
    assert pictures[0].pixels.shape == (48, 64, 3)
    assert pictures[0].truth is None


def test_av1_is_read_and_shown_upright(tmp_path: Path) -> None:
    half = plain(20, 128, 96)
    half[:, 64:] = 220

    (upright, *_), (turned, *_) = (
        read_all(VideoFile(write_av1(tmp_path / f"{turns}.mp4", [half] * 3, turns), realtime=False))
        for turns in (0, 1)
    )

    assert (upright.pixels.shape, turned.pixels.shape) == ((96, 128, 3), (128, 96, 3))
    assert upright.pixels[:, 80:].mean() > 200
    assert turned.pixels[80:].mean() > 200
    assert turned.pixels[:48].mean() < 40


def test_pictures_are_rgb(tmp_path: Path) -> None:
    red = np.zeros((48, 64, 3), np.uint8)
    red[..., 0] = 250
    path = write_video(tmp_path / "clip.avi", [red])

    (picture,) = read_all(VideoFile(path, realtime=False))

    assert picture.pixels[..., 0].min() > 200
    assert picture.pixels[..., 1:].max() < 50


def test_real_time_takes_as_long_as_the_recording(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", [plain(90)] * 11, fps=50)
    start_ns = now_ns()

    assert len(read_all(VideoFile(path))) == 11

    assert seconds_since(start_ns) >= 0.199  # from the first picture to the last


def test_a_long_gap_in_the_time_stamps_is_not_waited_for(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", [plain(90)] * 2)
    content = bytearray(path.read_bytes())
    rate = content.index(b"strh") + 28  # pictures in seconds, as a fraction: scale, rate
    content[rate : rate + 8] = struct.pack("<II", 3600, 1)
    path.write_bytes(content)
    waits: list[int] = []
    video = VideoFile(path, sleep=waits.append)

    pictures = read_all(video)

    assert len(pictures) == 2
    assert max(waits) <= 10.1 * NANOSECONDS


def test_a_loop_goes_on_from_the_first_picture(tmp_path: Path) -> None:
    path = write_video(tmp_path / "clip.avi", [plain(level) for level in (10, 80, 150)])
    video = VideoFile(path, realtime=False, loop=True)
    video.open()

    levels = [round(picture.pixels.mean() / 10) for picture in (video.read() for _ in range(7)) if picture]

    assert levels == [1, 8, 15, 1, 8, 15, 1]


def test_a_file_that_is_no_video_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.mp4"
    path.write_text("not a video\n" * 1000)

    with pytest.raises(CameraError, match=r"notes\.mp4 is not a video"):
        VideoFile(path).open()


def test_a_file_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CameraError, match=r"gone\.mp4 does not exist"):
        VideoFile(tmp_path / "gone.mp4").open()


def test_a_truncated_video_ends_early(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "clip.avi", [plain(level) for level in range(0, 250, 5)])
    part = tmp_path / "part.avi"
    part.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])

    assert 0 < len(read_all(VideoFile(part, realtime=False))) < 50


@pytest.mark.deep
@pytest.mark.parametrize(("name", "pictures"), [("bottle-detection.mp4", 1189), ("yes.mkv", 65)])
def test_real_videos_are_read_to_the_end(shared_data: Path, name: str, pictures: int) -> None:
    video = VideoFile(shared_data / "videos" / name, realtime=False)
    video.open()

    count = sum(1 for _ in iter(video.read, None))

    assert count == pictures
