"""The first kernel of a training step, for a network that begins by flattening its images."""

from edged.engine.device import Device
from edged.engine.gradients.gather import BatchImages
from edged.engine.launch import Launch
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs


def gather_vectors(batch: BatchImages, target: Tensor, device: Device) -> tuple[Launch, ...]:
    """Return the launch, as `gather`; target: (channels · height · width, 1, batch), one image."""
    runs, wanted = Runs(target, device), batch.wanted
    size = {"IMAGE_CHANNELS": wanted.channels, "IMAGE_HEIGHT": wanted.height, "IMAGE_WIDTH": wanted.width}
    return (
        Launch(
            kernel="gather_vectors",
            operator="gather",
            defines={**target.defines("OUT"), "RUN": runs.length, **size, **batch.defines()},
            arguments=batch.arguments(target),
            items=runs.count,
            planes=target.blocks,
            group=runs.group,
        ),
    )
