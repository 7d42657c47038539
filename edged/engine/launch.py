"""One kernel with everything that it needs to run: the element of a plan."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.engine.layout import Defines, Tensor


@dataclass(frozen=True)
class Images:
    """The uint8 RGB pixels of a job, [frames, height, width, 3], as uploaded."""

    frames: int
    height: int
    width: int

    @property
    def nbytes(self) -> int:
        return self.frames * self.height * self.width * 3


@dataclass(frozen=True, eq=False)
class Weights:
    """Constants of a kernel, packed only when they are uploaded: the host never holds all of them twice.

    `pack` returns float32; `half`: they are stored as float16. `whole`: it returns whole numbers of this type.
    """

    pack: Callable[[], NDArray[Any]]
    half: bool = False
    whole: type[np.integer[Any]] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.whole or (np.float16 if self.half else np.float32))


@dataclass(frozen=True)
class Resident:
    """Values that stay on the device between training steps: a part of the buffer named `buffer`.

    `nbytes` from `offset` on, which has the device's alignment.
    """

    buffer: str
    nbytes: int
    offset: int = 0


@dataclass(frozen=True)
class Scalar:
    """A number that the host passes by name when it enqueues the kernel: an `np.float32`, `int32` or `uint32`."""

    name: str


Argument = Tensor | Images | Weights | Resident | Scalar


@dataclass(frozen=True, eq=False)
class HostCall:
    """An operator that the host computes between two kernels: it reads `inputs` back and writes `output`.

    compute: NumPy arrays [frames, channels, height, width] to such an array.
    """

    operator: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    compute: Callable[..., NDArray[np.float32]]
    kernel: str = "on_host"  # its name in reports

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        return (*self.inputs, self.output)

    tensors = arguments


@dataclass(frozen=True, eq=False)
class Launch:
    """A kernel, the -D options it is compiled with, its arguments, and its work-items for one frame.

    `items` along dimension 0 (a kernel skips those beyond, since whole groups are started), the frames along
    dimension 1, `planes` along dimension 2; with `frames_last` it is planes before frames, so that a device which
    runs work-groups in order finishes one frame before the next. `group` work-items of dimension 0 make a
    work-group. `frames`: their number if no job gives it, as in a training step; they begin with
    `first_frame` there.
    """

    kernel: str
    operator: str
    defines: Defines
    arguments: tuple[Argument, ...]
    items: int
    planes: int = 1
    group: int = 1
    frames_last: bool = False
    frames: int = 1
    first_frame: int = 0

    @property
    def options(self) -> tuple[str, ...]:
        """Return the compiler's options, in an order that does not depend on that of their definition."""
        defines = {**self.defines, "GROUP": self.group, "FRAMES_LAST": int(self.frames_last)}
        return tuple(f"-D{name}={value}" for name, value in sorted(defines.items()))

    def global_size(self, frames: int) -> tuple[int, int, int]:
        items = ceil_div(self.items, self.group) * self.group
        return (items, self.planes, frames) if self.frames_last else (items, frames, self.planes)

    @property
    def offset(self) -> tuple[int, int, int]:
        """Return the offset of the work-items' indices."""
        return (0, 0, self.first_frame) if self.frames_last else (0, self.first_frame, 0)

    @property
    def local_size(self) -> tuple[int, int, int]:
        return self.group, 1, 1

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(argument for argument in self.arguments if isinstance(argument, Tensor))


PlanStep = Launch | HostCall


def kernels_of(steps: Iterable[PlanStep]) -> tuple[Launch, ...]:
    """Return the steps that are kernels."""
    return tuple(step for step in steps if isinstance(step, Launch))
