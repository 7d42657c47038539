"""Decode a whole picture by OpenCV, and make it one of 8 bits without alpha, whatever its format.

The largest value of the file becomes 255 and all others are rounded: 16 bits are divided by 257. OpenCV itself
drops the lower bits of PNG, rounds TIFF, and leaves a PGM of 10 bits almost black. Alpha is ignored: colours are
what they would be without it. OpenCV multiplies those of TIFF by alpha.
"""

import re
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.pictures import tiff
from edged.pictures.prepare import Pixels

OF_ANY_DEPTH = cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH
PNM_BINARY = (b"P5", b"P6")
PNM_HEADER = re.compile(rb"P[2356]\s+\d+\s+\d+\s+(\d{1,5})\s")
COMMENT = re.compile(rb"#[^\n]*")
LARGEST = {np.dtype(np.uint8): 255, np.dtype(np.uint16): 65535}


def decoded(content: bytes, *, upright: bool) -> Pixels | None:
    """Return the picture as uint8 [H, W, 3] BGR; None for a damaged one.

    upright: turn it by its EXIF. A TIFF is always turned by its own tag, as Pillow does it. Raises ValueError,
    which describes the problem, for one of other numbers than of 8 or 16 bits.
    """
    flags = OF_ANY_DEPTH if upright else OF_ANY_DEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    pixels = _tiff(content) if content.startswith(tiff.BEGINNINGS) else _decoded(content, flags)
    return None if pixels is None else _scaled(pixels, _largest(content, pixels))


def _decoded(content: bytes, flags: int) -> NDArray[Any] | None:
    try:
        return cv2.imdecode(np.frombuffer(content, np.uint8), flags)
    except cv2.error:
        return None


def _tiff(content: bytes) -> NDArray[Any] | None:
    """Return a TIFF as [H, W, 3] of its own numbers. Raises ValueError for one that cannot be used."""
    is_multiplied = tiff.is_multiplied(content)
    pixels = None if is_multiplied else _decoded(tiff.without_alpha(content), OF_ANY_DEPTH)
    if pixels is None:  # OpenCV also refuses some numbers that are no pixels
        pixels = _decoded(content, cv2.IMREAD_UNCHANGED)
    if pixels is not None and pixels.dtype not in LARGEST:
        raise ValueError(f"holds numbers of type {pixels.dtype}; supported are those of 8 or 16 bits from 0")
    return _divided_by_alpha(pixels) if is_multiplied and pixels is not None else pixels


def _divided_by_alpha(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return the colours [H, W, 3] of [H, W, 4], whose colours are multiplied by alpha; black where alpha is 0.

    Raises ValueError for another shape, of which OpenCV gives no alpha.
    """
    if pixels.ndim != 3 or pixels.shape[2] != 4:
        raise ValueError("has gray that is multiplied by alpha: save it without alpha")
    largest = LARGEST[pixels.dtype]
    alpha = np.maximum(pixels[..., 3:], 1).astype(np.float32)
    colours = np.minimum(np.rint(pixels[..., :3] * (largest / alpha)), largest)
    return np.asarray(colours, pixels.dtype)


def _largest(content: bytes, pixels: NDArray[Any]) -> int:
    """Return the number that is white: of PGM and PPM files as they say, unless OpenCV has scaled them already."""
    header = PNM_HEADER.match(COMMENT.sub(b" ", content[:1024])) if content[:1] == b"P" else None
    is_raw = content.startswith(PNM_BINARY) or pixels.dtype == np.uint16
    return int(header[1]) if header and is_raw and int(header[1]) else LARGEST[pixels.dtype]


def _scaled(pixels: NDArray[Any], largest: int) -> Pixels:
    """Return numbers from 0 to `largest` as 0 to 255, rounded; larger ones as 255."""
    if largest == 255 and pixels.dtype == np.uint8:
        return np.asarray(pixels, np.uint8)
    steps = np.minimum(np.arange(LARGEST[pixels.dtype] + 1), largest)
    return np.asarray(((2 * 255 * steps + largest) // (2 * largest)).astype(np.uint8)[pixels])
