"""Compose and render scenes: a digit, or nothing, before a backdrop, as a camera would see it.

`compose` chooses everything from a generator; `render` draws one frame of it. Sizes are shares of the frame's
height, so that a scene looks alike at any resolution. The ink is darker than everything behind it, or brighter,
by a gap that is clear to a person: the truth of a frame is never ambiguous.
"""

from dataclasses import dataclass
from statistics import NormalDist

import cv2
import numpy as np
import numpy.typing as npt

from edged.drawing.backdrop import Band, Pixels, colour, draw_backdrop

Mask = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
MARGIN = 0.03
NORMAL = np.array([NormalDist().inv_cdf((byte + 0.5) / 256) for byte in range(256)])


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
