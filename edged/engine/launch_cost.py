"""What each launch of a plan has to compute and to move, whatever way it does it."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from edged.engine.launch import Argument, Launch, Weights
from edged.engine.planner import Plan
from edged.model.cost import operator_macs
from edged.model.graph import Graph


@dataclass(frozen=True)
class LaunchCost:
    """For a full batch. `macs` are those of the operator as it is defined: Winograd needs fewer multiplications.

    `nbytes` counts all that a launch reads or writes once, as it lies in memory: inputs, outputs and weights.
    """

    operator: str
    kernel: str
    macs: int
    nbytes: int

    @property
    def operators(self) -> tuple[str, ...]:
        """Those that the launch computes, or has a part in: a fused one names several."""
        return tuple(self.operator.split("+"))


def launch_costs(graph: Graph, plan: Plan) -> tuple[LaunchCost, ...]:
    """One for each launch, in order. Packs every weight, to know how many there are."""
    macs = {operator.name: operator_macs(graph, operator) * plan.images.frames for operator in graph.operators}
    weights = [
        sum(_nbytes(argument) for argument in launch.arguments if isinstance(argument, Weights))
        for launch in plan.launches
    ]
    of_operator: dict[str, int] = defaultdict(int)
    for launch, nbytes in zip(plan.launches, weights, strict=True):
        of_operator[launch.operator] += nbytes
    return tuple(
        LaunchCost(
            launch.operator,
            launch.kernel,
            _macs(macs, launch) * nbytes // max(1, of_operator[launch.operator]),
            sum(map(_nbytes, launch.arguments)),
        )
        for launch, nbytes in zip(plan.launches, weights, strict=True)
    )


def _macs(macs: Mapping[str, int], launch: Launch) -> int:
    """Of all that the launch's operator names. Where several launches compute it, its weights are the measure."""
    names = [launch.operator] if launch.operator in macs else launch.operator.split("+")
    return sum(macs.get(name, 0) for name in names)


def _nbytes(argument: Argument) -> int:
    if isinstance(argument, Weights):
        return argument.pack().size * argument.dtype.itemsize
    return argument.nbytes
