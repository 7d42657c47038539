"""The first kernel of every plan: convert the image's bytes to the network's input."""

import numpy as np

from edged.engine.device import Device
from edged.engine.launch import Images, Launch, Weights
from edged.engine.layout import Defines, Tensor
from edged.engine.variants.pixelwise import Runs
from edged.model.package import Input


def prepare(images: Images, wanted: Input, target: Tensor, device: Device) -> Launch:
    """Compute input = (pixel × scale − mean) ÷ std as one multiplication and one addition by channel."""
    std = np.array(wanted.std)
    normalize = np.concatenate([wanted.scale / std, -np.array(wanted.mean) / std]).astype(np.float32)
    runs = Runs(target, device)
    return Launch(
        kernel="prepare",
        operator="prepare",
        defines={**target.defines("OUT"), "RUN": runs.length, **_order(wanted)},
        arguments=(images, Weights(lambda: normalize), target),
        items=runs.count,
        planes=target.blocks,
        group=runs.group,
    )


def _order(wanted: Input) -> Defines:
    return {"SWAP": int(wanted.color == "bgr"), "GRAY": int(wanted.color == "gray")}
