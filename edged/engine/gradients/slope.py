"""What a backward pass of an operator starts from, and the launches that most of them end in.

Sums over a batch, the gradients of weights, are distributed among shares of its rows: each has sums of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from edged.arithmetic import ceil_div
from edged.engine.device import Device
from edged.engine.launch import Argument, Launch, Resident
from edged.engine.layout import Defines, Tensor
from edged.engine.variants.elementwise import activation_defines
from edged.engine.variants.pixelwise import Runs
from edged.engine.variants.variant import WORK_GROUP, Op
from edged.model.activations import LINEAR, Activation
from edged.model.graph import Shape

Residents = Mapping[str, Resident]
SHARE_BYTES = 2**19  # of activations and gradients that a share reads repeatedly: a part of a CPU's own cache
ITEMS_PER_UNIT = 16  # work-groups that keep a compute unit busy to the end
PARTS_BYTES = 2**25  # that the partial sums of all shares may take
RUN_LENGTH = 32  # vectors that a work-item of `sum_shares` adds


@dataclass(frozen=True, eq=False)
class Slope(Generic[Op]):
    """An operator in a training step, and the tensors of its backward pass.

    source, output: what it read and wrote in the forward pass (`output` after its activation).
    output_gradient: the gradient of the loss by the output, before its activation if it ends in one.
    input_gradient: the gradient by `source`, to be written; None if nothing before the operator learns.
    plus: the gradients of other readers of `source` so far, which are added to what is written.
    source_activation: the end of what wrote `source`: what is written, with `plus`, is multiplied by its slope.
    parameters, gradients: by the operator's own names (weight, bias …), in the layout in which the kernels of the
    forward pass read them.

    Vectors of features are one image for all frames, (features, 1, frames): see `training_tensor`.
    """

    operator: Op
    source: Tensor
    output: Tensor
    output_gradient: Tensor
    input_gradient: Tensor | None
    device: Device
    plus: Tensor | None = None
    source_activation: Activation = LINEAR
    parameters: Residents = field(default_factory=dict)
    gradients: Residents = field(default_factory=dict)

    def ending_defines(self) -> dict[str, int]:
        """Return the macros of `gradient.cl`, for kernels that write the gradient as OUT: how it ends."""
        plus = self.plus.defines("PLUS") if self.plus else {}
        written = self.source.defines("WRITTEN") if self._is_activated else {}
        ending = activation_defines(self.source_activation)
        through = {f"THROUGH_{name.removeprefix('ACTIVATION_')}": value for name, value in ending.items()}
        return {**plus, **written, "WITH_PLUS": int(self.plus is not None), **through}

    def ending_arguments(self) -> tuple[Argument, ...]:
        """Return the last arguments of such a kernel: ENDING_PARAMETERS."""
        return (*((self.plus,) if self.plus else ()), *((self.source,) if self._is_activated else ()))

    @property
    def _is_activated(self) -> bool:
        return self.source_activation != LINEAR


Backward = Callable[[Slope[Any]], tuple[Launch, ...]]

"""The kernels of an operator's backward pass: they write `input_gradient`, if any, and all of `gradients`."""


def training_tensor(name: str, shape: Shape, batch: int, block: int) -> Tensor:
    """Return a graph's tensor in a training step.

    Vectors of features are the pixels of one image: a convolution kernel then computes one matrix product of the
    whole batch.
    """
    if len(shape) == 1:
        return Tensor(name, 1, shape[0], 1, batch, block)
    return Tensor(name, batch, shape[0], shape[1], shape[2], block)


def gradient_run(
    kernel: str, slope: Slope[Any], input_gradient: Tensor, reads: tuple[Argument, ...], more: Defines
) -> Launch:
    """Return a launch of `kernel` with what it `reads`, `input_gradient`, and the arguments of the ending."""
    runs = Runs(input_gradient, slope.device)
    geometry = slope.output_gradient.defines("IN") | input_gradient.defines("OUT")
    return Launch(
        kernel=kernel,
        operator=slope.operator.name,
        defines={**geometry, "RUN": runs.length, **slope.ending_defines(), **more},
        arguments=(slope.output_gradient, *reads, input_gradient, *slope.ending_arguments()),
        items=runs.count,
        planes=input_gradient.blocks,
        group=runs.group,
        frames=input_gradient.frames,
    )


def join_gradients(slope: Slope[Any], input_gradient: Tensor) -> Launch:
    """Write `input_gradient`: another gradient of the same tensor, with `plus` and the mask of ReLU."""
    return gradient_run("join_gradients", slope, input_gradient, (), {})


def in_shares(slope: Slope[Any], by_share: Launch, weights: int) -> tuple[Launch, ...]:
    """Return `by_share`, launched for each share of all frames' rows, and the launch that adds their sums.

    by_share: reads `source` and `output_gradient`, writes `weights` vectors and the bias; its kernel takes SHARES.
    """
    output_gradient, name = slope.output_gradient, slope.operator.name
    shares = _count(slope, by_share.items * output_gradient.blocks, weights * output_gradient.block * 4)
    defines = {**by_share.defines, "FRAMES": output_gradient.frames, "SHARES": shares}
    gradients = slope.gradients["weight"], slope.gradients["bias"]
    launch = replace(by_share, defines=defines, frames_last=True, frames=shares)
    if shares == 1:
        return (replace(launch, arguments=(*by_share.arguments, *gradients)),)
    parts = [
        Tensor(f"{name}:{role}", shares, count * output_gradient.block, 1, 1, 1)
        for role, count in (("weights", weights), ("bias", output_gradient.blocks))
    ]
    runs = ceil_div(weights + output_gradient.blocks, RUN_LENGTH)
    counts = {"SHARES": shares, "WEIGHTS": weights, "BIASES": output_gradient.blocks, "RUN_LENGTH": RUN_LENGTH}
    return replace(launch, arguments=(*by_share.arguments, *parts)), Launch(
        kernel="sum_shares",
        operator=name,
        defines={**output_gradient.defines("OUT"), **counts},
        arguments=(*parts, *gradients),
        items=runs,
        group=group(slope, runs),
    )


def _count(slope: Slope[Any], items: int, weight_bytes: int) -> int:
    """Return the number of shares of all frames' rows: each fits into the cache, and the whole device is busy."""
    rows = slope.output_gradient.frames * slope.output_gradient.height
    for_cache = ceil_div(slope.source.nbytes + slope.output_gradient.nbytes, SHARE_BYTES)
    for_units = ceil_div(ITEMS_PER_UNIT * slope.device.compute_units, items)
    return max(1, min(max(for_cache, for_units), rows, PARTS_BYTES // weight_bytes))


def group(slope: Slope[Any], items: int) -> int:
    """Return the size of work-groups for a launch of `items`."""
    return 1 if slope.device.kind == "cpu" else min(WORK_GROUP, items)
