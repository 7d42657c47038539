"""The first kernel of a training step on vectors: gather those of the batch."""

from edged.engine.device import Device
from edged.engine.launch import Launch, Resident, Scalar
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs


def gather_features(features: Resident, order: Resident, target: Tensor, device: Device) -> tuple[Launch, ...]:
    """features: float32 [n, f]; order: int32, the batch's from the scalar `first` on; target: (f, 1, batch)."""
    runs = Runs(target, device)
    return (
        Launch(
            kernel="gather_features",
            operator="gather",
            defines={**target.defines("OUT"), "RUN": runs.length},
            arguments=(features, order, Scalar("first"), target),
            items=runs.count,
            planes=target.blocks,
            group=runs.group,
        ),
    )
