"""A batch norm that is trained: statistics of the batch, the normalisation, and the backward pass.

The operator is a `train.norm.TrainedNorm`, which this layer must not import.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.gradients.slope import Slope, gradient_run
from edged.engine.launch import Argument, Launch, Resident, Weights
from edged.engine.layout import NO_HALO, Defines, Tensor
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import WORK_GROUP, Site

CPU_PIXELS = 2048  # bytes of a slice: its vectors are still in the cache when they are read for the second time
CPU_CHUNK = 32
MOST_ON_CPU, MOST_ON_GPU = 64, 512


@dataclass(frozen=True)
class Slices:
    """Parts of `tensor`, with all of its frames, over which each block of channels is summed."""

    tensor: Tensor
    device: Device

    @property
    def chunk(self) -> int:
        return min(CPU_CHUNK, self.tensor.width) if self.device.kind == "cpu" else 1

    @property
    def count(self) -> int:
        """Return the number of slices, at most that of the chunks, so that none is empty."""
        tensor, on_cpu = self.tensor, self.device.kind == "cpu"
        chunks = tensor.frames * tensor.height * ceil_div(tensor.width, self.chunk)
        pixels = tensor.frames * tensor.height * tensor.width
        fitting = ceil_div(pixels, CPU_PIXELS) if on_cpu else MOST_ON_GPU
        return min(chunks, max(fitting, self.device.compute_units), MOST_ON_CPU if on_cpu else MOST_ON_GPU)

    @property
    def shares(self) -> Tensor:
        """Return the size of the results: three vectors for each slice and block."""
        return replace(
            self.tensor, name=f"{self.tensor.name}.shares", frames=self.count, height=1, width=3, halo=NO_HALO
        )

    def launch(self, kernel: str, operator: str, arguments: tuple[Argument, ...], more: Defines) -> Launch:
        """Return a launch with one work-item per slice and block of the tensor that the kernel calls IN."""
        return Launch(
            kernel=kernel,
            operator=operator,
            defines={**self.defines(), **more},
            arguments=arguments,
            items=self.count,
            planes=self.tensor.blocks,
            group=1 if self.device.kind == "cpu" else min(WORK_GROUP, self.count),
        )

    def merge(self, kernel: str, operator: str, arguments: tuple[Argument, ...]) -> Launch:
        """Return the launch that adds the slices, with one work-item for each block."""
        blocks = self.tensor.blocks
        group = 1 if self.device.kind == "cpu" else min(WORK_GROUP, blocks)
        return Launch(kernel, operator, self.defines(), arguments, blocks, group=group)

    def defines(self) -> Defines:
        """Return the geometry of IN and its slices. OUT is like IN, since `layout.cl` takes vectors from there."""
        shape = {"SLICES": self.count, "CHUNK": self.chunk, "FRAMES": self.tensor.frames}
        return {**self.tensor.defines("IN"), **self.tensor.defines("OUT"), **shape}


def norm_forward(
    site: Site[Any], parameters: Mapping[str, Resident], statistics: Mapping[str, Resident]
) -> tuple[Launch, ...]:
    """Normalise in training; `statistics` (mean, variance) of the batch stay for the backward pass.

    The running statistics follow those of the batch. parameters: scale and offset. All are float32 by channel,
    padded with zeros to whole blocks.
    """
    (source,), name = site.inputs, site.operator.name
    slices, (mean, variance) = Slices(source, site.device), batch_statistics(name, source)
    return (
        slices.launch("norm_statistics", name, (source, slices.shares), {}),
        slices.merge(
            "norm_merge",
            name,
            (slices.shares, numbers(site.operator), mean, variance, statistics["mean"], statistics["variance"]),
        ),
        _apply(site, parameters, mean, variance),
    )


def norm_use(
    site: Site[Any], parameters: Mapping[str, Resident], statistics: Mapping[str, Resident]
) -> tuple[Launch, ...]:
    """Normalise with the running statistics."""
    return (_apply(site, parameters, statistics["mean"], statistics["variance"]),)


def _apply(site: Site[Any], parameters: Mapping[str, Resident], mean: Argument, variance: Argument) -> Launch:
    (source,), target, runs = site.inputs, site.output, Runs(site.output, site.device)
    own = parameters["scale"], parameters["offset"], mean, variance
    return Launch(
        kernel="norm_apply",
        operator=site.operator.name,
        defines={**site.tensor_defines(), "RUN": runs.length, **activation_defines(site.operator.activation)},
        arguments=(source, numbers(site.operator), *own, target),
        items=runs.count,
        planes=target.blocks,
        group=runs.group,
        frames=target.frames,
    )


def batch_statistics(name: str, source: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and variance of a batch by channel.

    They live until the norm `name` has passed its gradient on.
    """
    channels, block = source.blocks * source.block, source.block
    return Tensor(f"{name}.mean", 1, channels, 1, 1, block), Tensor(f"{name}.variance", 1, channels, 1, 1, block)


def numbers(norm: Any) -> Weights:
    """Return [epsilon, momentum], as the kernels take them."""
    return Weights(lambda: np.array([norm.epsilon, norm.momentum], np.float32))


def norm_gradient(slope: Slope[Any]) -> tuple[Launch, ...]:
    """Compute the gradients of scale and offset, sums over the batch, and from them that of the input."""
    name, source, given = slope.operator.name, slope.source, slope.output_gradient
    slices, statistics = Slices(given, slope.device), batch_statistics(name, source)
    constants, seen = numbers(slope.operator), source.defines("SOURCE")
    sums = slope.gradients["scale"], slope.gradients["offset"]
    launches = (
        slices.launch("norm_sums", name, (given, source, constants, *statistics, slices.shares), seen),
        slices.merge("norm_sums_merge", name, (slices.shares, *sums)),
    )
    if slope.input_gradient is None:
        return launches
    reads = source, constants, slope.parameters["scale"], *statistics, *sums
    pixels = {"PIXELS": source.frames * source.height * source.width}
    return (*launches, gradient_run("norm_gradient", slope, slope.input_gradient, reads, {**seen, **pixels}))
