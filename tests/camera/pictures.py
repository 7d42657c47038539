"""Pictures and videos made for a test."""

from pathlib import Path

import cv2
import numpy as np

from edged.camera.sources.source import Pixels


def plain(level: int, width: int = 64, height: int = 48) -> Pixels:
    """A grey picture."""
    return np.full((height, width, 3), level, np.uint8)


def write_picture(path: Path, pixels: Pixels) -> Path:
    """`pixels` (RGB) as a file of the kind that its suffix names; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return path


def write_video(path: Path, pictures: list[Pixels], fps: float = 25.0) -> Path:
    """`pictures` (RGB, all of one size) as a Motion JPEG file."""
    height, width = pictures[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), fps, (width, height))
    assert writer.isOpened()
    for pixels in pictures:
        writer.write(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    writer.release()
    return path
