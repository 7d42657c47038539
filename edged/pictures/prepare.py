"""Prepare a frame from a picture: region of interest, shape and size; find boxes of the frame in the picture.

For `center-crop` a picture is shrunk with antialiasing by a triangle filter, as ImageNet's pictures are usually
prepared. The result is that of Pillow's BILINEAR, except for differences of 1 in a few of a thousand pixels.
OpenCV has no such filter: INTER_AREA is sharper, INTER_LINEAR reads four pixels, however much it shrinks. The
other ways to resize shrink by INTER_AREA, which is faster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from edged.messages.preparation import Resize, shorter_side
from edged.pictures.placement import Placement, Rectangle

Pixels = NDArray[np.uint8]

BAND = 8  # outputs computed together: more would mean more multiplications by zero
MOST_PRODUCTS = 2**18  # of one matrix multiplication: OpenBLAS would use further cores for more

BESIDE: Mapping[Resize, int] = {"pad": 0, "letterbox": 114, "corner": 114}  # pixels where no picture is

Region = tuple[float, float, float, float]
Size = tuple[int, int]  # width and height


@dataclass(frozen=True)
class Span:
    """Outputs `first` … `first + count` of `size` pixels that are resized to `wanted`."""

    size: int
    wanted: int
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Band:
    """Adjacent outputs: weights [outputs, inputs] of the inputs that they are averages of."""

    outputs: slice
    inputs: slice
    weights: NDArray[np.float32]


def resampled(pixels: Pixels, rows: Span, columns: Span) -> Pixels:
    """Return the part `rows` × `columns` of the resized `pixels`, uint8 [rows.count, columns.count, 3].

    Only the pixels that this part depends on are read: columns first, rounded, then rows.
    """
    bands = bands_of(rows)
    begin, end = bands[0].inputs.start, bands[-1].inputs.stop
    narrowed = _transposed(_means(_transposed(pixels[begin:end]), bands_of(columns), columns.count))
    return _means(narrowed, bands, rows.count, begin)


@lru_cache(maxsize=64)
def bands_of(span: Span) -> tuple[Band, ...]:
    """Return all bands of a span, in order."""
    firsts = range(span.first, span.first + span.count, BAND)
    return tuple(_band(span, first, min(first + BAND, span.first + span.count)) for first in firsts)


def _band(span: Span, first: int, end: int) -> Band:
    scale = span.size / span.wanted
    support = max(scale, 1.0)  # half of the triangle's base, in inputs
    centres = (np.arange(first, end)[:, np.newaxis] + 0.5) * scale
    lowest = np.maximum((centres - support + 0.5).astype(int), 0)
    highest = np.minimum((centres + support + 0.5).astype(int), span.size)
    inputs = np.arange(lowest[0, 0], highest[-1, 0])
    weights = np.maximum(1 - np.abs(inputs + 0.5 - centres) / support, 0)
    weights[(inputs < lowest) | (inputs >= highest)] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    outputs = slice(first - span.first, end - span.first)
    return Band(outputs, slice(int(inputs[0]), int(inputs[-1]) + 1), weights.astype(np.float32))


def _transposed(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.transpose(pixels), np.uint8)


def _means(pixels: NDArray[np.uint8], bands: tuple[Band, ...], count: int, begin: int = 0) -> Pixels:
    """Average along the first axis; `begin`: the index of the first input in `pixels`."""
    flat = pixels.reshape(len(pixels), -1)
    result = np.empty((count, flat.shape[1]), np.float32)
    for band in bands:
        inputs = slice(band.inputs.start - begin, band.inputs.stop - begin)
        width = max(1, MOST_PRODUCTS // band.weights.size)
        for left in range(0, flat.shape[1], width):
            columns = slice(left, left + width)
            np.matmul(band.weights, flat[inputs, columns].astype(np.float32), out=result[band.outputs, columns])
    result += 0.5
    return result.astype(np.uint8).reshape(count, *pixels.shape[1:])


class FrameSize(Protocol):
    """The size that a network takes, and how a picture gets it."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...

    @property
    def resize(self) -> Resize: ...


@dataclass(frozen=True)
class Fit:
    """The `part` of a picture that is resized to fill `inner`, pixels of the frame, which it may exceed."""

    part: Rectangle
    inner: Rectangle


def prepare(pixels: Pixels, size: FrameSize) -> Pixels:
    """Return a whole picture as a network takes it: uint8 [height, width, 3], C-contiguous."""
    return fitted(pixels, size.width, size.height, size.resize)


def region(pixels: Pixels, roi: Region) -> Pixels:
    """Return the part of `pixels` that `roi` names, see `region_of`; a view."""
    part = region_of(roi, pixels.shape[1], pixels.shape[0])
    return pixels[part.top : part.top + part.height, part.left : part.left + part.width]


@lru_cache(maxsize=64)
def region_of(roi: Region, width: int, height: int) -> Rectangle:
    """Return the pixels that `roi` names of a picture, `width` × `height`; at least one.

    `roi`: left, top, right, bottom as shares.
    """
    left, right = _span(roi[0], roi[2], width)
    top, bottom = _span(roi[1], roi[3], height)
    return Rectangle(left, top, right - left, bottom - top)


def fitted(pixels: Pixels, width: int, height: int, resize: Resize = "stretch") -> Pixels:
    """Return `pixels` as uint8 [height, width, 3], C-contiguous.

    `stretch` changes the proportions, `crop` takes the largest centred part of the right proportions, `pad` keeps
    all and adds black on two sides: these leave a picture that has the right size unchanged. So do `letterbox`,
    which adds gray in place of black, and `corner`, which adds it at the right or below. `center-crop` resizes
    the shorter side to 256/224 of the input's and takes the centre, as ImageNet's networks are usually judged.
    """
    if resize == "stretch":
        return _resized(pixels, width, height)
    across, down = pixels.shape[1], pixels.shape[0]
    fit = _fit((across, down), (width, height), resize)
    inner = fit.inner
    if resize == "center-crop":
        rows, columns = Span(down, inner.height, -inner.top, height), Span(across, inner.width, -inner.left, width)
        return resampled(pixels, rows, columns)
    resized = _resized(fit.part.of(pixels), inner.width, inner.height)
    if resize not in BESIDE:
        return resized
    frame = np.full((height, width, 3), BESIDE[resize], np.uint8)
    inner.of(frame)[:] = resized
    return frame


def placement(width: int, height: int, size: FrameSize) -> Placement:
    """Return where a whole picture, `width` × `height` pixels, lies in the frame that `prepare` makes of it."""
    return _placement((width, height), (size.width, size.height), size.resize)


def _placement(picture: Size, frame: Size, resize: Resize) -> Placement:
    fit = _fit(picture, frame, resize)
    inner = Placement(fit.inner.left, fit.inner.top, fit.inner.width, fit.inner.height)
    return inner.around(fit.part, *picture)


@lru_cache(maxsize=64)
def shown(picture: Size, roi: Region, frame: Size, resize: Resize) -> tuple[Region | None, Region | None]:
    """Return what a frame shows of a camera's picture, and where this lies in the frame.

    The region `roi` as shares of the picture, None: all of it; and its place, left, top, width and height, in
    pixels of the frame, None: it fills the frame.
    """
    part = region_of(roi, *picture)
    place = _placement((part.width, part.height), frame, resize)
    return part.shares(*picture), None if place.fills(*frame) else place.as_numbers


def _span(first: float, last: float, size: int) -> tuple[int, int]:
    begin = min(round(first * size), size - 1)
    return begin, max(round(last * size), begin + 1)


def _fit(picture: Size, frame: Size, resize: Resize) -> Fit:
    whole, full = Rectangle(0, 0, *picture), Rectangle(0, 0, *frame)
    if resize == "stretch":
        return Fit(whole, full)
    if resize == "crop":
        return Fit(_centre(picture, frame[0] / frame[1]), full)
    if resize == "center-crop":
        return Fit(whole, _around(picture, frame))
    return Fit(whole, _within(picture, frame, is_centred=resize != "corner"))


def _centre(picture: Size, proportion: float) -> Rectangle:
    width = max(1, min(picture[0], round(picture[1] * proportion)))
    height = max(1, min(picture[1], round(picture[0] / proportion)))
    return Rectangle((picture[0] - width) // 2, (picture[1] - height) // 2, width, height)


def _around(picture: Size, frame: Size) -> Rectangle:
    """Return the resized picture: a shorter side of 256/224 of the frame's, the longer rounded down."""
    least = shorter_side(frame[0]), shorter_side(frame[1])
    across, down = picture
    is_upright = across * least[1] <= down * least[0]
    width, height = (least[0], least[0] * down // across) if is_upright else (least[1] * across // down, least[1])
    return Rectangle(-round((width - frame[0]) / 2), -round((height - frame[1]) / 2), width, height)


def _within(picture: Size, frame: Size, *, is_centred: bool) -> Rectangle:
    scale = min(frame[0] / picture[0], frame[1] / picture[1])
    width = max(1, min(frame[0], round(picture[0] * scale)))
    height = max(1, min(frame[1], round(picture[1] * scale)))
    left, top = ((frame[0] - width) // 2, (frame[1] - height) // 2) if is_centred else (0, 0)
    return Rectangle(left, top, width, height)


def _resized(pixels: Pixels, width: int, height: int) -> Pixels:
    if pixels.shape[:2] == (height, width):
        return np.ascontiguousarray(pixels)
    pixels = _halved(pixels, width, height)
    shrinks = width * height < pixels.shape[0] * pixels.shape[1]
    # area averaging leaves no moiré when shrinking, but makes blocks when enlarging
    how = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, (width, height), interpolation=how), np.uint8)


def _halved(pixels: Pixels, width: int, height: int) -> Pixels:
    """Halve `pixels` while they have at least twice the wanted size.

    OpenCV averages 2×2 pixels with vector instructions, but fractional areas one by one: 640×480 → 120×120 takes
    less than half the time of a single step.
    """
    while min(pixels.shape[1] / width, pixels.shape[0] / height) >= 4 and not any(
        side & 1 for side in pixels.shape[:2]
    ):
        half = (pixels.shape[1] // 2, pixels.shape[0] // 2)
        pixels = np.asarray(cv2.resize(pixels, half, interpolation=cv2.INTER_AREA), np.uint8)
    return pixels
