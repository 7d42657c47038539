"""Cameras that are programs: what they write is read, how they end is told, and none outlives its camera."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import cv2
import pytest

from edged import config
from edged.camera.sources import open_source
from edged.camera.sources.program import Program
from edged.errors import CameraError
from tests.camera.pictures import plain, write_video
from tests.eventually import eventually

LEVELS = (40, 80, 120)


def script(folder: Path, text: str) -> str:
    """The source that runs a Python program."""
    file = folder / "program.py"
    file.write_text(f"import os, sys, time\nwrite = sys.stdout.buffer.write\n{text}")
    return f"exec:{sys.executable} {file} --secret=swordfish"


def jpegs(folder: Path) -> str:
    file = folder / "pictures.mjpeg"
    file.write_bytes(b"".join(cv2.imencode(".jpg", plain(level))[1].tobytes() for level in LEVELS))
    return f"write(open({str(file)!r}, 'rb').read()); sys.stdout.flush()\n"


def test_motion_jpeg_on_standard_output_is_read_and_its_end_is_told(tmp_path: Path) -> None:
    source = script(tmp_path, jpegs(tmp_path) + "sys.exit('no more\\ncamera')")
    program = open_source(config.CameraConfig(source=source))
    program.open()

    levels = [picture and round(float(picture.pixels.mean())) for picture in (program.read() for _ in LEVELS)]
    with pytest.raises(CameraError) as error:
        program.read()

    assert levels == pytest.approx(LEVELS, abs=2)
    name = os.path.basename(sys.executable)
    assert str(error.value) == f"exec:{name} has ended; it ended with exit code 1; no more; camera"


def test_video_that_ffmpeg_recognises_is_read(tmp_path: Path) -> None:
    video = write_video(tmp_path / "clip.avi", [plain(level) for level in LEVELS])
    program = Program(f"exec:cat {video}")
    program.open()

    levels = [round(float(program.read().pixels.mean())) for _ in LEVELS]

    program.close()
    assert levels == pytest.approx(LEVELS, abs=3)


def test_a_program_that_gives_no_picture_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    ids = tmp_path / "ids"
    hang = (
        "import subprocess\nother = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(ids)!r}, 'w').write(f'{{os.getpid()}} {{other.pid}}')\ntime.sleep(600)"
    )
    program = Program(script(tmp_path, jpegs(tmp_path) + hang), read_timeout_s=1)
    program.open()
    for _ in LEVELS:
        program.read()
    eventually(lambda: ids.exists() and len(ids.read_text().split()) == 2)

    with pytest.raises(CameraError, match=r"has stalled: no picture for 1 s$"):
        program.read()

    eventually(lambda: not any(map(is_running, ids.read_text().split())))


def test_a_program_dies_with_its_camera(tmp_path: Path) -> None:
    source = script(tmp_path, jpegs(tmp_path) + "time.sleep(600)")
    code = (
        f"from edged.camera.sources.program import Program\np = Program({source!r}); p.open()\n"
        "print(p._output._process.pid, flush=True)\nimport time; time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as camera:
        assert camera.stdout
        number = camera.stdout.readline().strip()
        assert is_running(number)

        camera.send_signal(signal.SIGKILL)

    eventually(lambda: not is_running(number))


def is_running(number: str) -> bool:
    """Whether a process lives, and is no zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_that_ends_without_a_picture_is_reported_with_its_last_lines(tmp_path: Path) -> None:
    source = script(tmp_path, "sys.exit('no camera')")

    with pytest.raises(CameraError, match=r" has ended; it ended with exit code 1; no camera$"):
        Program(source).open()


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(CameraError, match=r"exec:rpicam-none cannot be started: No such file or directory$"):
        Program("exec:rpicam-none -o -").open()


@pytest.mark.parametrize(
    ("source", "words"), [("exec:", "requires a command"), ("exec:a 'b", "no closing quotation")]
)
def test_a_command_that_cannot_be_read_is_refused(source: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        config.CameraConfig(source=source)
