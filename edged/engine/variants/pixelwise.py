"""Launches of kernels whose work-items each write a run of pixels of one block."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Launch, Weights
from edged.engine.layout import Defines, Tensor
from edged.engine.variants.variant import WORK_GROUP, Site

ITEMS_PER_CORE = 8  # work-items that share the pixels evenly, where each reads all channels


@dataclass(frozen=True)
class Runs:
    """How the pixels of `tensor` are distributed, for `layout.cl`: `length` per work-item.

    A CPU's compiler vectorises a loop over a row; a GPU needs a work-item for each pixel.
    """

    tensor: Tensor
    device: Device

    @property
    def length(self) -> int:
        return self.tensor.width if self.device.kind == "cpu" else 1

    @property
    def count(self) -> int:
        return self.tensor.height * ceil_div(self.tensor.width, self.length)

    @property
    def group(self) -> int:
        return 1 if self.device.kind == "cpu" else min(WORK_GROUP, self.count)


def pixelwise(kernel: str, site: Site[Any], defines: Defines | None = None) -> Launch:
    """Return a launch of `kernel` that takes the inputs and the output of `site` as its arguments."""
    runs = Runs(site.output, site.device)
    return Launch(
        kernel=kernel,
        operator=site.operator.name,
        defines={**site.tensor_defines(), "RUN": runs.length, **(defines or {})},
        arguments=(*site.inputs, site.output),
        items=runs.count,
        planes=site.output.blocks,
        group=runs.group,
    )


def with_constants(kernel: str, site: Site[Any], constants: Weights, defines: Defines | None = None) -> Launch:
    """Return a launch of `kernel` like that of `pixelwise`, with `constants` between the input and the output."""
    launch = pixelwise(kernel, site, defines)
    return replace(launch, arguments=(*site.inputs, constants, site.output))


def across_channels(kernel: str, site: Site[Any], defines: Defines, constants: Sequence[Weights] = ()) -> Launch:
    """Return a launch of `kernel` whose work-items read all channels of a run of pixels.

    `constants` come between the inputs and the output.
    """
    target = site.output
    wanted = ITEMS_PER_CORE * site.device.compute_units
    run = min(target.width, ceil_div(site.pixels, wanted)) if site.device.kind == "cpu" else 1
    items = target.height * ceil_div(target.width, run)
    return Launch(
        kernel=kernel,
        operator=site.operator.name,
        defines={**site.tensor_defines(), "RUN": run, **defines},
        arguments=(*site.inputs, *constants, target),
        items=items,
        group=1 if site.device.kind == "cpu" else min(WORK_GROUP, items),
    )


def same_blocks(site: Site[Any]) -> bool:
    """Return whether the channels of all inputs lie in blocks like those of the output."""
    return all(tensor.block == site.output.block for tensor in site.inputs)
