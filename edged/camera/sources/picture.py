"""What a source gives."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Picture:
    """One image as the source gave it.

    `pixels`: uint8 [height, width, 3], RGB. `truth`: its label where the source knows it, else None.
    `late_ns`: how long the picture was held up on its way, where the source can tell.
    """

    pixels: Pixels
    truth: str | None = None
    late_ns: int = 0
