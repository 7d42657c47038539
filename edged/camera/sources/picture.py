"""What a source gives."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Picture:
    """One image as the source gave it.

    `pixels`: uint8 [height, width, 3], RGB. `truth`: its label where the source knows it, else None.
    """

    pixels: Pixels
    truth: str | None = None
