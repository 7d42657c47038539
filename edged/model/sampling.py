"""Values of an image between its pixels: the formula that `grid_sample.cl` has, in NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]  # float32 or float64


def sampled_at(image: Floats, positions: Floats, *, align_corners: bool) -> Floats:
    """Return [channels, rows, columns] of an image at positions [rows, columns, (x, y)], linear between pixels.

    −1 and 1 are the centres of the outermost pixels if `align_corners`, else their outer edges. Zero lies beyond
    the border (Jaderberg et al., Spatial Transformer Networks, 2015).
    """
    sizes = np.array(image.shape[:0:-1], positions.dtype)  # width, height
    places = (positions + 1) / 2 * (sizes - 1) if align_corners else ((positions + 1) * sizes - 1) / 2
    first = np.floor(places)
    total = np.zeros((len(image), *positions.shape[:2]), image.dtype)
    for corner in (first + np.array(step, first.dtype) for step in np.ndindex(2, 2)):
        inside = ((corner >= 0) & (corner < sizes)).all(axis=-1)  # no NaN either
        x, y = np.moveaxis(np.where(inside[..., np.newaxis], corner, 0).astype(np.int64), -1, 0)
        weights = (1 - np.abs(places - corner)).prod(axis=-1)
        total += np.where(inside, image[:, y, x] * weights, 0)
    return total
