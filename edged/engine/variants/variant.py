"""A variant: one way to compute an operator, with its parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from edged.engine.device import Device
from edged.engine.launch import Launch
from edged.engine.layout import NO_HALO, Halo, Tensor
from edged.model.graph import Operator

Op = TypeVar("Op", bound=Operator)
Parameters = Mapping[str, int]

WORK_GROUP = 64  # enough for every GPU's lanes, and within every driver's limit for a small kernel


@dataclass(frozen=True, eq=False)
class Site(Generic[Op]):
    """An operator in a plan: the tensors that it reads and writes, the device, and the precision."""

    operator: Op
    inputs: tuple[Tensor, ...]
    output: Tensor
    device: Device
    half_weights: bool = False

    @property
    def pixels(self) -> int:
        """Return the number of pixels of one channel of the output."""
        return self.output.height * self.output.width

    def tensor_defines(self) -> dict[str, int]:
        """Return the geometry of IN, RESIDUAL (a second input) and OUT, for `layout.cl`."""
        defines = self.output.defines("OUT")
        for role, tensor in zip(("IN", "RESIDUAL"), self.inputs, strict=False):
            defines |= tensor.defines(role)
        return defines


@dataclass(frozen=True)
class Variant(Generic[Op]):
    """One way to compute an operator. `name` is also that of its kernel file and its test.

    launches: the kernels, in order; what they hand on to one another are tensors of their own.
    parameters: all that are worth trying, the best guess first.
    reach: the zeros that it reads around its first input with these parameters. Tensors have no halo yet then.
    can_compute: whether it is right for the site at all.
    """

    name: str
    launches: Callable[[Site[Op], Parameters], tuple[Launch, ...]]
    parameters: Callable[[Site[Op]], tuple[Parameters, ...]] = lambda site: ({},)
    reach: Callable[[Site[Op], Parameters], Halo] = lambda site, parameters: NO_HALO
    can_compute: Callable[[Site[Op]], bool] = lambda site: True


AnyVariant = Variant[Any]
