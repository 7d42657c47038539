"""Decode pictures, from a file and from bytes.

A picture is read whole and of an acceptable size, or not at all: its header is read first, for its format and
size, and for whether a JPEG is complete.
"""

import re
import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.errors import ImageError
from edged.pictures import tiff
from edged.pictures.eight_bits import decoded
from edged.pictures.prepare import Pixels
from edged.system.files import read_regular_file

FORMATS = "JPEG, PNG, BMP, WebP, TIFF, PGM or PPM"
Size = tuple[int, int]  # width and height

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_END, _JPEG_ALONE = 0xD9, frozenset({0x01, 0xD8})
_MOST_SEGMENTS = 10_000
_IS_MARKER = np.ones(256, np.bool_)  # byte after 0xFF; others: scan data, restarts, padding
_IS_MARKER[[0x00, *range(0xD0, 0xD8), 0xFF]] = False
MOST_BYTES = 2**28
MOST_PIXELS = 2**26  # 200 MB as RGB


def size_of(content: bytes) -> Size | None:
    """Read the size of a picture from its header; None for a format that is not in FORMATS.

    Raises ValueError, which describes the problem, for a damaged header or a truncated JPEG.
    """
    reader = next((read for begin, read in _READERS.items() if content.startswith(begin)), None)
    if reader is None:
        return None
    try:
        return reader(content)
    except struct.error:
        raise ValueError("is cut short within its header") from None


def _jpeg(content: bytes) -> Size:
    """Read the size of a JPEG, and look for its end: OpenCV may fill a truncated one with grey."""
    values = np.frombuffer(content, np.uint8)
    size, offset = None, 2
    for _ in range(_MOST_SEGMENTS):
        offset = _next_marker(values, offset)
        marker = content[offset]
        offset += 1
        if marker == _JPEG_END:
            if size is None:
                raise ValueError("is a JPEG without a picture")
            return size
        if marker in _JPEG_ALONE:
            continue
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", content, offset + 3)
            size = width, height
        offset += max(2, *struct.unpack_from(">H", content, offset))
    raise ValueError(f"is damaged: a JPEG of more than {_MOST_SEGMENTS} segments")


def _next_marker(values: NDArray[np.uint8], offset: int) -> int:
    """Return the position of the next marker's second byte. Raises ValueError at the end of the file."""
    length = 64
    while offset < len(values) - 1:
        part = values[offset : offset + length + 1]
        seconds = np.flatnonzero(part[:-1] == 0xFF) + 1
        found = seconds[_IS_MARKER[part[seconds]]]
        if found.size:
            return offset + int(found[0])
        offset += length
        length = min(2 * length, 2**20)
    raise ValueError("is cut short: a JPEG without its end")


def _png(content: bytes) -> Size:
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _bmp(content: bytes) -> Size:
    (header,) = struct.unpack_from("<I", content, 14)
    width, height = struct.unpack_from("<HH" if header == 12 else "<ii", content, 18)
    return width, abs(height)  # below 0: its first line is the upper one


def _webp(content: bytes) -> Size | None:
    kind = content[8:16]
    if kind == b"WEBPVP8X":
        low, high, rest = struct.unpack_from("<HBH", content, 24)
        return (low | high << 16) + 1, (rest | content[29] << 16) + 1
    if kind == b"WEBPVP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"WEBPVP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _pnm(content: bytes) -> Size | None:
    words = re.sub(rb"#[^\n]*", b" ", content[:1024]).split(maxsplit=3)[1:3]
    if len(words) == 2 and all(word.isdigit() and len(word) < 10 for word in words):
        return int(words[0]), int(words[1])
    return None


_READERS: Mapping[bytes, Callable[[bytes], Size | None]] = {
    b"\xff\xd8\xff": _jpeg,
    b"\x89PNG\r\n\x1a\n": _png,
    b"BM": _bmp,
    b"RIFF": _webp,
    **dict.fromkeys(tiff.BEGINNINGS, tiff.size_of_tiff),
    **{b"P%d" % kind: _pnm for kind in range(1, 7)},
}


def read_picture(path: Path, *, upright: bool = True) -> Pixels:
    """Return the picture in a file as uint8 [H, W, 3] RGB, turned by its EXIF if `upright`. Raises ImageError."""
    try:
        content = read_regular_file(path, MOST_BYTES)
    except FileNotFoundError:
        raise ImageError(f"{path} does not exist") from None
    except OSError as error:
        raise ImageError(f"{path} cannot be read: {error.strerror}") from None
    return decode_picture(content, str(path), upright=upright)


def decode_picture(content: bytes, name: str, *, upright: bool = True, most_pixels: int = MOST_PIXELS) -> Pixels:
    """Return the picture in `content` as uint8 [H, W, 3] RGB; see `read_picture`. Raises ImageError."""
    try:
        size = size_of(content)
    except ValueError as error:
        raise ImageError(f"{name} {error}") from None
    if size is None:
        raise ImageError(f"{name} is not a picture that can be read: expected {FORMATS}")
    if size[0] * size[1] > most_pixels:
        most = f"{most_pixels // 10**6} million"
        raise ImageError(f"{name} has {size[0]}×{size[1]} pixels; up to {most} are supported")
    try:
        pixels = decoded(content, upright=upright)
    except ValueError as error:
        raise ImageError(f"{name} {error}") from None
    if pixels is None:
        raise ImageError(f"{name} is damaged or cut short")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB, pixels), np.uint8)  # in place
