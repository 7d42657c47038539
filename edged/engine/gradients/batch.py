"""The two ends of a training step: gather the images of a batch; its loss and the gradient of its scores."""

from dataclasses import dataclass

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Argument, Launch, Resident, Scalar, Weights
from edged.engine.layout import Tensor
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import WORK_GROUP
from edged.model.package import Input

CPU_RUN = 32  # frames per work-item on a CPU


@dataclass(frozen=True)
class BatchImages:
    """Where the images of a batch lie on the device, and what becomes of them on their way into the network.

    images: uint8 [n, height, width, channels] of the size that the network wants, RGB or gray; order: int32.
    flip: mirror half of them; shift: move each by up to so many pixels (see augment.cl).
    Scalars: `first`, int32, the place in `order` of the first frame; with flip or shift `seed` and `step`, uint32.
    """

    images: Resident
    order: Resident
    model_input: Input
    flip: bool = False
    shift: int = 0

    def defines(self) -> dict[str, int]:
        """Return the macros that say what becomes of them."""
        return {"SWAP": int(self.model_input.color == "bgr"), "FLIP": int(self.flip), "SHIFT": self.shift}

    def arguments(self, target: Tensor) -> tuple[Argument, ...]:
        """Return the arguments of a kernel that writes them to `target`."""
        std = np.array(self.model_input.std)
        factors, offsets = self.model_input.scale / std, -np.array(self.model_input.mean) / std
        normalize = np.concatenate([factors, offsets]).astype(np.float32)
        random = (Scalar("seed"), Scalar("step")) if self.flip or self.shift > 0 else ()
        return self.images, self.order, Scalar("first"), Weights(lambda: normalize), target, *random


def gather(batch: BatchImages, target: Tensor, device: Device) -> tuple[Launch, ...]:
    """Return the launch that writes the images of a batch to `target`."""
    runs, lines = Runs(target, device), target.height if device.kind == "cpu" else 1
    return (
        Launch(
            kernel="gather",
            operator="gather",
            defines={**target.defines("OUT"), "RUN": runs.length, **batch.defines(), "LINES": lines},
            arguments=batch.arguments(target),
            items=runs.count // lines,
            planes=target.blocks,
            group=runs.group,
            frames=target.frames,
        ),
    )


def gather_vectors(batch: BatchImages, target: Tensor, device: Device) -> tuple[Launch, ...]:
    """Return the launch, as `gather`; target: (channels · height · width, 1, batch), one image."""
    runs, model_input = Runs(target, device), batch.model_input
    size = {
        "IMAGE_CHANNELS": model_input.channels,
        "IMAGE_HEIGHT": model_input.height,
        "IMAGE_WIDTH": model_input.width,
    }
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
