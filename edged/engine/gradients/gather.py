"""The first kernel of a training step: the batch's images, from all of them on the device."""

import numpy as np

from edged.engine.device import Device
from edged.engine.launch import Argument, Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs
from edged.model.package import Input


def gather(
    images: Resident,
    order: Resident,
    wanted: Input,
    target: Tensor,
    device: Device,
    *,
    flip: bool = False,
    shift: int = 0,
) -> tuple[Launch, ...]:
    """images: uint8 [n, height, width, channels] of the size that the network wants, RGB or gray; order: int32.

    Scalars: `first`, int32, the place in `order` of the first frame; with flip or shift `seed` and `step`, uint32.
    """
    runs, lines = Runs(target, device), target.height if device.kind == "cpu" else 1
    how = {"SWAP": int(wanted.color == "bgr"), "FLIP": int(flip), "SHIFT": shift, "LINES": lines}
    return (
        Launch(
            kernel="gather",
            operator="gather",
            defines={**target.defines("OUT"), "RUN": runs.length, **how},
            arguments=gather_arguments(images, order, wanted, target, augmented=flip or shift > 0),
            items=runs.count // lines,
            planes=target.blocks,
            group=runs.group,
            frames=target.frames,
        ),
    )


def gather_arguments(
    images: Resident, order: Resident, wanted: Input, target: Tensor, *, augmented: bool
) -> tuple[Argument, ...]:
    """Return the arguments of kernels that gather images."""
    std = np.array(wanted.std)
    normalize = np.concatenate([wanted.scale / std, -np.array(wanted.mean) / std]).astype(np.float32)
    random = (Scalar("seed"), Scalar("step")) if augmented else ()
    return images, order, Scalar("first"), Weights(lambda: normalize), target, *random
