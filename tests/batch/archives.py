"""Small archives, and the files of answers to them."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.camera.pictures import plain, write_video
from tests.evaluation.pictures import picture

NOON = {
    day: datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC).timestamp()
    for day in ("2026-01-05", "2026-01-06")
}


def archive(folder: Path, each: int = 4, size: int = 16) -> Path:
    """`each` pictures of two days from `door` and `gate`; one that cannot be read; a video of 10 frames."""
    for camera in ("door", "gate"):
        for number, (day, time) in enumerate(NOON.items()):
            for seed in range(each):
                made(picture(folder / camera / f"{day}-{seed:03}.png", 100 * number + seed, (size, size)), time)
    bad = folder / "gate" / "bad.jpg"
    bad.write_text("no picture")
    made(bad, NOON["2026-01-05"])
    made(write_video(folder / "gate" / "clip.avi", [plain(25 * level) for level in range(10)]), NOON["2026-01-06"])
    return folder


def made(path: Path, time: float) -> Path:
    """Set the time of a file."""
    os.utime(path, (time, time))
    return path


def answer_files(output: Path) -> dict[str, bytes]:
    """The files of answers by name, with their content."""
    return {str(path.relative_to(output)): path.read_bytes() for path in sorted(output.rglob("*.parquet"))}


def unfinished_files(output: Path) -> Iterator[Path]:
    """What a process that was killed has left."""
    return output.rglob(".part-*")
