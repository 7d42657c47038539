"""Sections of a video."""

from pathlib import Path

import pytest

from edged.batch.video_frames import VideoReader, VideoSection, sections_of
from edged.errors import CameraError
from tests.camera.pictures import plain, write_video

LEVELS = [20 * number for number in range(10)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_video(tmp_path / "clip.avi", [plain(level) for level in LEVELS])
    return tmp_path


def frames(reader: VideoReader, section: VideoSection) -> list[tuple[int, float, int]]:
    """Number, time and level of each frame."""
    found = reader.frames_of(section)
    return [(each.number, round(each.at_s, 3), round(each.pixels.mean() / 20) * 20) for each in found]


@pytest.mark.parametrize(("size", "stride"), [(100, 1), (4, 1), (5, 1), (2, 3), (1, 4), (3, 20)])
def test_sections_give_every_frame_of_the_stride_once(root: Path, size: int, stride: int) -> None:
    sections = list(sections_of(root, "clip.avi", None, size, stride))
    reader = VideoReader(root)

    found = [frame for section in sections for frame in frames(reader, section)]

    assert found == [(n, round(n / 25, 3), LEVELS[n]) for n in range(0, 10, stride)]
    assert sum(section.expected for section in sections) == len(found)


def test_a_section_is_the_same_whichever_was_read_before(root: Path) -> None:
    sections = list(sections_of(root, "clip.avi", None, 3, 1))
    in_order = VideoReader(root)
    expected = [frames(in_order, section) for section in sections]

    for reader in (VideoReader(root), VideoReader(root)):
        assert frames(reader, sections[2]) == expected[2]
        assert frames(reader, sections[1]) == expected[1]
        assert frames(reader, sections[3]) == expected[3]


def test_a_section_beyond_the_end_is_empty_and_an_open_one_goes_to_the_end(root: Path) -> None:
    reader = VideoReader(root)

    assert frames(reader, VideoSection("clip.avi", None, 30, 5, 1, 5)) == []
    assert [number for number, _, _ in frames(reader, VideoSection("clip.avi", None, 8, None, 1, 1))] == [8, 9]


def test_a_file_that_is_no_video_is_one_open_section_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_text("no video")
    [section] = sections_of(tmp_path, "clip.mp4", None, 10, 1)

    with pytest.raises(CameraError, match=r"clip\.mp4 is not a video"):
        frames(VideoReader(tmp_path), section)
