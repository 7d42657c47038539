"""The first kernel of a training step, for a network that begins by flattening its images."""

from edged.engine.device import Device
from edged.engine.gradients.gather import gather_arguments
from edged.engine.launch import Launch, Resident
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs
from edged.model.package import Input


def gather_vectors(
    images: Resident,
    order: Resident,
    wanted: Input,
    target: Tensor,
    device: Device,
    *,
    flip: bool = False,
    shift: int = 0,
) -> tuple[Launch, ...]:
    """As `gather`; target: (channels · height · width, 1, batch), one image."""
    runs = Runs(target, device)
    size = {"IMAGE_CHANNELS": wanted.channels, "IMAGE_HEIGHT": wanted.height, "IMAGE_WIDTH": wanted.width}
    how = {"SWAP": int(wanted.color == "bgr"), "FLIP": int(flip), "SHIFT": shift}
    return (
        Launch(
            kernel="gather_vectors",
            operator="gather",
            defines={**target.defines("OUT"), "RUN": runs.length, **size, **how},
            arguments=gather_arguments(images, order, wanted, target, augmented=flip or shift > 0),
            items=runs.count,
            planes=target.blocks,
            group=runs.group,
        ),
    )
