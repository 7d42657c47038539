"""Distribute sums over a whole batch among work-items: the macros of `norm_slices.cl`."""

from dataclasses import dataclass, replace

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Argument, Launch
from edged.engine.layout import NO_HALO, Defines, Tensor
from edged.engine.variants.variant import WORK_GROUP

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
