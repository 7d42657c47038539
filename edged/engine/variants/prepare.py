"""The first kernel of every plan: bytes of the image to the network's input."""

import numpy as np

from edged.engine.launch import Images, Launch
from edged.engine.layout import Tensor
from edged.engine.variants.variant import WORK_GROUP
from edged.model.package import Input


def prepare(images: Images, wanted: Input, target: Tensor) -> Launch:
    """input = (pixel × scale − mean) ÷ std as one multiplication and one addition by channel."""
    std = np.array(wanted.std)
    normalize = np.concatenate([wanted.scale / std, -np.array(wanted.mean) / std]).astype(np.float32)
    pixels = target.height * target.width
    return Launch(
        kernel="prepare",
        operator="prepare",
        defines={**target.defines("OUT"), "SWAP": int(wanted.color == "bgr")},
        arguments=(images, normalize, target),
        items=pixels,
        planes=target.blocks,
        group=min(WORK_GROUP, pixels),
    )
