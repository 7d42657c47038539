"""The end of the forward pass and the start of the backward pass: loss, right answers, gradient of the scores."""

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.variant import WORK_GROUP

CPU_RUN = 32  # frames per work-item on a CPU


def cross_entropy(
    scores: Tensor,
    gradient: Tensor | None,
    labels: Resident,
    order: Resident,
    sums: Resident,
    smoothing: float,
    device: Device,
) -> tuple[Launch, ...]:
    """scores, gradient: (classes, 1, frames), one image. labels: int32 [n]; order: int32, the batch's from the
    scalar `first` on. sums: float32 [frames][loss, right], to which each step adds.
    """
    frames, run = scores.width, CPU_RUN if device.kind == "cpu" else 1
    geometry = scores.defines("IN") | (gradient or scores).defines("OUT")
    return (
        Launch(
            kernel="cross_entropy",
            operator="loss",
            defines={**geometry, "RUN": run, "WITH_GRADIENT": int(gradient is not None)},
            arguments=(
                scores,
                labels,
                order,
                Scalar("first"),
                Weights(lambda: np.array([smoothing], np.float32)),
                sums,
                *((gradient,) if gradient else ()),
            ),
            items=ceil_div(frames, run),
            group=1 if device.kind == "cpu" else min(WORK_GROUP, frames),
        ),
    )
