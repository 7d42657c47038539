"""Draw the background of a digit, or an empty scene: colour, texture, and clutter that resembles no digit.

The rule for clutter: a stroke either leaves the picture at both ends or is shorter than a sixth of its height,
and a filled shape is no more than 1.8 times as long as wide. A digit is at least a third of the height.
"""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Band = tuple[float, float]
LUMA = (0.299, 0.587, 0.114)


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


Colour = tuple[int, int, int]


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
