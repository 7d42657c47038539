"""A version for the small network, with random weights."""

from pathlib import Path

import numpy as np

from edged.model.head import Head
from edged.model.head_versions import Base
from tests.hub.taught_heads import keep_version

FEATURES, HIDDEN = 8, 4  # of the small network; of the head
LABELS = ("open", "closed")


def keep_random_version(folder: Path, base: Base) -> str:
    """Write a version for the model `base` into the teach folder `folder`; return its name."""
    random = np.random.default_rng(1)
    shapes = ((HIDDEN, FEATURES), (HIDDEN,), (len(LABELS), HIDDEN), (len(LABELS),))
    content = Head(*(random.standard_normal(shape).astype(np.float32) for shape in shapes)).to_bytes()
    return keep_version(folder, content, LABELS, base, (FEATURES, HIDDEN))
