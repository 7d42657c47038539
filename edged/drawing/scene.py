"""Compose and render scenes: a digit, or nothing, before a backdrop, as a camera would see it.

`compose` chooses everything from a generator; `render` draws one frame of it. Sizes are shares of the frame's
height, so that a scene looks alike at any resolution. The ink is darker than everything behind it, or brighter,
by a gap that is clear to a person: the truth of a frame is never ambiguous.

Clutter of a backdrop resembles no digit: a stroke either leaves the picture at both ends or is shorter than a
sixth of its height, and a filled shape is no more than 1.8 times as long as wide. A digit is at least a third of
the height.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Band = tuple[float, float]
LUMA = (0.299, 0.587, 0.114)
Mask = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
MARGIN = 0.03
NORMAL = np.array([NormalDist().inv_cdf((byte + 0.5) / 256) for byte in range(256)])

Colour = tuple[int, int, int]


def draw_backdrop(rng: np.random.Generator, width: int, height: int, bands: tuple[Band, ...]) -> Pixels:
    """Draw a background, uint8 [height, width, 3] RGB; its colour is in the first band, clutter in any."""
    picture = _wash(rng, width, height, bands[0])
    if rng.random() < 0.6:
        picture = _roughen(rng, picture)
    for _ in range(int(rng.integers(0, 13))):
        band = bands[rng.integers(len(bands))]
        SHAPES[rng.integers(len(SHAPES))](rng, picture, colour(rng, rng.uniform(*band)))
    return picture


def colour(rng: np.random.Generator, luma: float) -> tuple[int, int, int]:
    """Return a random RGB colour of the brightness `luma` (0 … 255, BT.601)."""
    red, green, blue = rng.normal(0, 35, 3).tolist()
    grey = LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue
    tint = (red - grey, green - grey, blue - grey)
    room = min((255 - luma if part > 0 else luma) / max(abs(part), 1e-6) for part in tint)
    red, green, blue = (round(luma + part * min(1.0, room)) for part in tint)
    return red, green, blue


def _wash(rng: np.random.Generator, width: int, height: int, band: Band) -> Pixels:
    """Fill with one plain colour, or several that blend."""
    cells = 1 if rng.random() < 0.3 else int(rng.integers(2, 5))
    corners = np.array([colour(rng, rng.uniform(*band)) for _ in range(cells * cells)], np.uint8)
    return _stretch(corners.reshape(cells, cells, 3), width, height)


def _roughen(rng: np.random.Generator, picture: Pixels) -> Pixels:
    """Add a texture of random grain that keeps the mean brightness."""
    height, width, _ = picture.shape
    grain, amplitude = rng.uniform(0.02, 0.25) * height, int(rng.integers(3, 16))
    cells = rng.integers(0, 2 * amplitude, (int(height / grain) + 2, int(width / grain) + 2, 3), np.uint8)
    return _as_pixels(cv2.addWeighted(picture, 1, _stretch(cells, width, height), 1, -amplitude))


def _stretch(cells: Pixels, width: int, height: int) -> Pixels:
    return _as_pixels(cv2.resize(cells, (width, height), interpolation=cv2.INTER_LINEAR))


def _as_pixels(array: object) -> Pixels:
    return np.asarray(array, np.uint8)


def _pen(rng: np.random.Generator, picture: Pixels, most: float = 0.04) -> int:
    return 1 + int(rng.uniform(0, most) * picture.shape[0])


def _point(rng: np.random.Generator, picture: Pixels) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    height, width, _ = picture.shape
    return rng.uniform((0, 0), (width, height))


def _line(rng: np.random.Generator, picture: Pixels, ink: Colour) -> None:
    """Draw a line from border to border, or a fence of them."""
    angle, reach = rng.uniform(0, np.pi), sum(picture.shape)
    along = reach * np.array([np.cos(angle), np.sin(angle)])
    across = np.array([-along[1], along[0]]) / reach * picture.shape[0] * rng.uniform(0.06, 0.25)
    middle, pen = _point(rng, picture), _pen(rng, picture)
    for step in range(1 if rng.random() < 0.7 else int(rng.integers(2, 7))):
        ends = np.rint([middle + step * across - along, middle + step * across + along]).astype(int).tolist()
        cv2.line(picture, ends[0], ends[1], ink, pen, cv2.LINE_AA)


def _ring(rng: np.random.Generator, picture: Pixels, ink: Colour) -> None:
    """Draw part of a circle whose centre is outside the picture."""
    height, width, _ = picture.shape
    turn = rng.uniform(0, 2 * np.pi)
    centre = np.array([width, height]) * (0.5 + 0.8 * np.array([np.cos(turn), np.sin(turn)]))
    radius = int(rng.uniform(0.3, 0.9) * height)
    x, y = np.rint(centre).astype(int).tolist()
    cv2.circle(picture, (x, y), radius, ink, _pen(rng, picture), cv2.LINE_AA)


def _dashes(rng: np.random.Generator, picture: Pixels, ink: Colour) -> None:
    for _ in range(int(rng.integers(1, 6))):
        start, angle = _point(rng, picture), rng.uniform(0, 2 * np.pi)
        end = start + rng.uniform(0.03, 0.15) * picture.shape[0] * np.array([np.cos(angle), np.sin(angle)])
        ends = np.rint([start, end]).astype(int).tolist()
        cv2.line(picture, ends[0], ends[1], ink, _pen(rng, picture, 0.03), cv2.LINE_AA)


def _disc(rng: np.random.Generator, picture: Pixels, ink: Colour) -> None:
    radius = rng.uniform(0.02, 0.3) * picture.shape[0]
    x, y, a, b = np.rint([*_point(rng, picture), radius, radius / rng.uniform(1, 1.8)]).astype(int).tolist()
    cv2.ellipse(picture, (x, y), (a, b), rng.uniform(0, 180), 0, 360, ink, -1, cv2.LINE_AA)


def _block(rng: np.random.Generator, picture: Pixels, ink: Colour) -> None:
    """Draw a filled triangle or rectangle."""
    corners = int(rng.integers(3, 5))
    turns = rng.uniform(0, 2 * np.pi) + np.arange(corners) * 2 * np.pi / corners
    radius = rng.uniform(0.05, 0.4) * picture.shape[0]
    shape = np.stack([np.cos(turns) * rng.uniform(0.65, 1), np.sin(turns)], 1) * radius
    cv2.fillPoly(picture, [np.rint(_point(rng, picture) + shape).astype(np.int32)], ink, cv2.LINE_AA)


SHAPES: tuple[Callable[[np.random.Generator, Pixels, Colour], None], ...] = (_line, _ring, _dashes, _disc, _block)


@dataclass(frozen=True, eq=False)
class Digit:
    """A glyph in the scene.

    `mask`: uint8 [h, w], 255 is ink. `ink`: uint8 [H, W, 3], the ink's colour under the scene's light.
    `quads`: float32 [2, 4, 2], where the mask's corners are (x, y) when the scene begins and when it ends.
    `blur`: sigma in pixels. `smear`: float32 [k, k], the motion within one exposure.
    """

    mask: Mask
    ink: Pixels
    quads: Floats
    blur: float
    smear: Floats


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene without its glyph.

    `background`: uint8 [H, W, 3] RGB. `noise`: uint8 [2, 256], the amount that a random byte adds, and the amount
    that it subtracts.
    """

    background: Pixels
    noise: npt.NDArray[np.uint8]
    digit: Digit | None


def compose(rng: np.random.Generator, width: int, height: int, mask: Mask | None) -> Scene:
    """Return a scene of `width` × `height` with the glyph `mask` (cut to its ink), or without one."""
    ink_luma, band = _brightness(rng)
    light = rng.uniform(rng.uniform(0.7, 1.0), 1.0, (2, 2, 1)).astype(np.float32)
    blur = rng.uniform(0, 0.012) * height
    bands = (band,) if mask is not None else (band, (ink_luma, ink_luma), band)
    backdrop = draw_backdrop(rng, width, height, bands)
    lamp = cv2.resize(np.rint(np.repeat(light, 3, 2) * 255).astype(np.uint8), (width, height))
    background = _blurred(np.asarray(cv2.multiply(backdrop, lamp, scale=1 / 255), np.uint8), blur)
    tint = np.rint(light * np.array(colour(rng, ink_luma))).astype(np.uint8)
    ink = np.asarray(cv2.resize(tint, (width, height)), np.uint8)
    noise = np.rint(NORMAL * rng.uniform(0, 12))
    tables = np.stack([np.maximum(noise, 0), np.maximum(-noise, 0)]).astype(np.uint8)
    if mask is None:
        return Scene(background, tables, None)
    quads = _quads(rng, width, height, mask.shape[1] / mask.shape[0])
    return Scene(background, tables, Digit(mask, ink, quads, blur, _smear(rng, height)))


def render(rng: np.random.Generator, scene: Scene, progress: float) -> Pixels:
    """Render one frame, uint8 [H, W, 3] RGB; `progress` goes from 0 at the scene's begin to 1 at its end."""
    frame = scene.background.copy()
    if scene.digit:
        _draw(frame, scene.digit, progress)
    grain = np.frombuffer(rng.bytes(frame.size), np.uint8).reshape(frame.shape)
    brighter = cv2.add(frame, cv2.LUT(grain, scene.noise[0]))
    return np.asarray(cv2.subtract(brighter, cv2.LUT(grain, scene.noise[1])), np.uint8)


def _draw(frame: Pixels, digit: Digit, progress: float) -> None:
    """Lay the ink over the part of the frame that the digit covers."""
    height, width, _ = frame.shape
    quad = digit.quads[0] + np.float32(progress) * (digit.quads[1] - digit.quads[0])
    reach = 3 * digit.blur + len(digit.smear)
    left, top = np.maximum(np.floor(quad.min(0) - reach), 0).astype(int).tolist()
    right, bottom = np.minimum(np.ceil(quad.max(0) + reach), (width, height)).astype(int).tolist()
    rows, columns = digit.mask.shape
    corners = np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], np.float32)
    warp = cv2.getPerspectiveTransform(corners, quad - np.array([left, top], np.float32))
    warped = cv2.warpPerspective(digit.mask, warp, (right - left, bottom - top))
    cover = _blurred(np.asarray(warped, np.uint8), digit.blur)
    if len(digit.smear) > 1:
        cover = np.asarray(cv2.filter2D(cover, -1, digit.smear), np.uint8)
    share = cover.astype(np.float32) * np.float32(1 / 255)
    part = (slice(top, bottom), slice(left, right))
    frame[part] = cv2.blendLinear(digit.ink[part], frame[part], share, 1 - share)


def _brightness(rng: np.random.Generator) -> tuple[float, Band]:
    """Return the ink's luma, and the band of the background's, which begins at least 75 from it."""
    gap = rng.uniform(75, 160)
    span = rng.uniform(5, min(100, 240 - gap))
    ink = rng.uniform(5, 250 - gap - span)
    if rng.random() < 0.5:
        return ink, (ink + gap, ink + gap + span)
    return 255 - ink, (255 - ink - gap - span, 255 - ink - gap)


def _quads(rng: np.random.Generator, width: int, height: int, aspect: float) -> Floats:
    """Return two positions of a glyph with that width ÷ height, both wholly within the frame."""
    tall = rng.uniform(0.38, 0.8) * height
    half = np.array([aspect * tall * rng.uniform(0.8, 1.2), tall]) / 2
    shape = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    shape += rng.uniform(-0.05, 0.05, (4, 2)) * half.max()
    shape[:, 0] -= rng.uniform(-0.15, 0.15) * shape[:, 1]
    angle, centre = rng.uniform(-18, 18), rng.uniform((0, 0), (width, height))
    drift = rng.normal(0, 0.06, 2) * height
    first = _placed(shape, angle, centre, width, height)
    second = _placed(
        shape * rng.uniform(0.94, 1.06), angle + rng.uniform(-5, 5), first.mean(0) + drift, width, height
    )
    return np.stack([first, second]).astype(np.float32)


def _placed(
    shape: npt.NDArray[np.float64], degrees: float, centre: npt.NDArray[np.float64], width: int, height: int
) -> npt.NDArray[np.float64]:
    """Return `shape` [4, 2] rotated, shrunk if needed, and moved from `centre` until it is within the margins."""
    turn = np.deg2rad(degrees)
    corners = shape @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    frame, margin = np.array([width, height]), MARGIN * height
    corners *= min(1.0, ((frame - 2 * margin) / np.ptp(corners, axis=0)).min())
    corners += centre
    corners += np.maximum(margin - corners.min(0), 0)
    corners -= np.maximum(corners.max(0) - (frame - margin), 0)
    return np.asarray(corners, np.float64)


def _smear(rng: np.random.Generator, height: int) -> Floats:
    """Return a line of random direction, up to 2 % of the height long; more often none."""
    size = 1 + 2 * int(max(0.0, rng.uniform(-0.01, 0.01)) * height)
    kernel = np.zeros((size, size), np.float32)
    angle, middle = rng.uniform(0, np.pi), size // 2
    for step in np.linspace(-middle, middle, 4 * size):
        kernel[round(middle + step * np.sin(angle)), round(middle + step * np.cos(angle))] = 1
    return np.asarray(kernel / kernel.sum(), np.float32)


def _blurred(picture: npt.NDArray[np.uint8], sigma: float) -> npt.NDArray[np.uint8]:
    return picture if sigma < 0.3 else np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), np.uint8)
