"""Images for a device, the order in which a batch takes them, and how they are prepared."""

import numpy as np

from edged.model.package import Input

IMAGES = np.random.default_rng(0).integers(0, 256, (9, 6, 5, 3), np.uint8)
ORDER = np.array([8, 3, 3, 0, 7, 1], np.int32)
BGR = Input(5, 6, "bgr", 1 / 255, (0.1, 0.2, 0.3), (0.5, 0.6, 0.7))
