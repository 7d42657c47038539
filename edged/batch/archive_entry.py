"""One picture or video of an archive."""

import os
from dataclasses import dataclass
from pathlib import Path

VIDEO_SUFFIXES = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm"})


@dataclass(frozen=True)
class ArchiveEntry:
    """A picture or a video. `name`: its path below the archive's root, or an absolute one.

    `captured_at`: seconds since 1970, or None if the file is absent.
    """

    name: str
    camera: str
    captured_at: float | None

    @property
    def is_video(self) -> bool:
        return is_video(self.name)


def is_video(name: str) -> bool:
    """Return whether the suffix is that of a video."""
    return os.path.splitext(name)[1].lower() in VIDEO_SUFFIXES


def file_time(path: Path) -> float | None:
    """Return when a file was written, in seconds since 1970; None for a file that is absent."""
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return None


def folder_of(root: Path, name: str) -> str:
    """Return the name of the folder that holds a file, as its camera."""
    return (root / name).parent.name or "archive"
