"""The operations and bytes of each launch of a plan, independent of how the kernel computes."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from edged.engine.launch import PlanStep, Scalar, Weights
from edged.engine.packed import weights_of
from edged.engine.planner import Plan
from edged.model.cost import operator_macs
from edged.model.graph import Graph


@dataclass(frozen=True)
class LaunchCost:
    """The cost of a launch for a full batch.

    `macs` are those of the operator's definition: Winograd needs fewer multiplications.

    `nbytes` counts all that a launch reads or writes once, as it lies in memory: inputs, outputs and weights;
    `weight_bytes`, these alone.
    """

    operator: str
    kernel: str
    macs: int
    nbytes: int
    weight_bytes: int = 0

    def for_frames(self, frames: int, batch: int) -> "LaunchCost":
        """Return the cost of a part of a batch: each frame has its tensors, all share the weights."""
        nbytes = self.weight_bytes + (self.nbytes - self.weight_bytes) * frames // batch
        return replace(self, macs=self.macs * frames // batch, nbytes=nbytes)

    @property
    def operators(self) -> tuple[str, ...]:
        """Return the operators that the launch computes at least in part; a fused one names several."""
        return tuple(self.operator.split("+"))


def packed_bytes(weights: Weights) -> int:
    """Return the size of weights on the device; they are packed to measure it."""
    return weights.pack().size * weights.dtype.itemsize


def launch_costs(
    graph: Graph, plan: Plan, bytes_of: Callable[[Weights], int] = packed_bytes
) -> tuple[LaunchCost, ...]:
    """Return the cost of each launch, in order. `bytes_of`: size of weights on the device."""
    macs = {operator.name: operator_macs(graph, operator) * plan.images.frames for operator in graph.operators}
    weights = [sum(map(bytes_of, weights_of(launch))) for launch in plan.launches]
    of_operator: dict[str, int] = defaultdict(int)
    for launch, nbytes in zip(plan.launches, weights, strict=True):
        of_operator[launch.operator] += nbytes
    return tuple(
        LaunchCost(
            launch.operator,
            launch.kernel,
            _macs(macs, launch) * nbytes // max(1, of_operator[launch.operator]),
            nbytes + sum(each.nbytes for each in launch.arguments if not isinstance(each, Weights | Scalar)),
            nbytes,
        )
        for launch, nbytes in zip(plan.launches, weights, strict=True)
    )


def _macs(macs: Mapping[str, int], launch: PlanStep) -> int:
    """Count the multiply-adds of a launch; where several launches compute an operator, by its weights."""
    names = [launch.operator] if launch.operator in macs else launch.operator.split("+")
    return sum(macs.get(name, 0) for name in names)
