"""Pictures and videos made for a test."""

import struct
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import av
import cv2
import numpy as np

from edged.pictures.prepare import Pixels
from tests.eventually import LIMIT_S

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def plain(level: int, width: int = 64, height: int = 48) -> Pixels:
    """A grey picture."""
    return np.full((height, width, 3), level, np.uint8)


def write_picture(path: Path, pixels: Pixels) -> Path:
    """`pixels` (RGB) as a file of the kind that its suffix names; the folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    assert cv2.imwrite(str(path), cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))
    return path


def turned_picture(path: Path, seed: int = 0) -> Path:
    """A JPEG of coloured noise, 24×16, whose EXIF says that it is upright after a quarter turn: 16×24."""
    pixels = np.random.default_rng(seed).integers(0, 256, (16, 24, 3)).astype(np.uint8)
    content = write_picture(path, pixels).read_bytes()
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, 6, 0)
    exif = b"Exif\0\0MM\0*" + struct.pack(">IH", 8, 1) + entry + bytes(4)
    path.write_bytes(content[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + content[2:])
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


def encoded_apart(
    encode: Callable[Arguments, Result], *arguments: Arguments.args, **keys: Arguments.kwargs
) -> Result:
    """Call a function that encodes AV1 in a process of its own.

    SVT-AV1 turns the thread of root that opens it into a real-time one: it and its children starve all others.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(encode, *arguments, **keys).result(LIMIT_S)


def write_av1(path: Path, pictures: list[Pixels], quarter_turns: int = 0) -> Path:
    """`pictures` (RGB, all of one size) as AV1 in MP4, 25 a second, to be shown after so many quarter turns."""
    return encoded_apart(_write_av1, path, pictures, quarter_turns)


def _write_av1(path: Path, pictures: list[Pixels], quarter_turns: int) -> Path:
    with av.open(str(path), "w") as file:
        stream = file.add_stream("libsvtav1", 25, options={"preset": "12", "svtav1-params": "log-level=0"})
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for pixels in pictures:
            file.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        file.mux(stream.encode(None))
    content = bytearray(path.read_bytes())
    begin = content.index(b"tkhd") + TURN_AT
    content[begin : begin + 36] = struct.pack(">9i", *TURNS[quarter_turns], 0, 0, 1 << 30)
    path.write_bytes(content)
    return path


TURN_AT = 44  # the display matrix in the box tkhd, ISO/IEC 14496-12
ONE = 1 << 16
TURNS = ((ONE, 0, 0, 0, ONE, 0), (0, ONE, 0, -ONE, 0, 0))
