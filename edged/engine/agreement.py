"""Compare what a device writes with the reference: the first kernel, single operators, and scores.

An operator is compared for the inputs that the device itself computed: errors of earlier ones do not count.
`proving` and `verifying` decide from it whether a device is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from edged.config import Precision
from edged.engine.device import Device
from edged.engine.launch import HostCall
from edged.engine.layout import Element, Tensor
from edged.engine.packed import LARGEST_HALF
from edged.engine.planner import STORED, Plan, make_plan
from edged.engine.selection import Chooser, Listener
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.activations import LINEAR
from edged.model.graph import Add, AveragePool, Conv, Dense, Float32, Graph, Operator, QuantizedConv
from edged.model.model_part import ModelPart

# Largest error of the scores, as a share of their range
SCORES_CLOSE: dict[Precision, float] = {"fp32": 1e-3, "fp16-weights": 1e-2, "fp16": 3e-2, "bf16": 3e-2}
TOLERANCE = 1e-4  # of the range; Winograd's F(4×4, 3×3) needs most of it
HALF_TOLERANCE = 1e-2
MOST_TIES = 1e-3  # of steps: values within rounding of the middle between two steps
HALVES = {Element.FLOAT16, Element.BFLOAT16}
IMAGE_AXES = 3

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class ReferenceProblem:
    """`inputs`: float32 [frames, channels, height, width] each; `expected`: the same in float64."""

    site: Site[Any]
    inputs: tuple[NDArray[np.float32], ...]
    expected: NDArray[np.float64]

    @property
    def tolerance(self) -> float:
        """Return the largest accepted error, as a share of the range of the correct answer."""
        tensors = (*self.site.inputs, self.site.output)
        is_half = self.site.half_weights or any(each.element in HALVES for each in tensors)
        return HALF_TOLERANCE if is_half else TOLERANCE

    def error(self, found: NDArray[np.float32] | None) -> float:
        """Return the largest error as a share of the range; infinite if there is a NaN or no answer."""
        if found is None:
            return float("inf")
        if _rounds_activation(self.site.operator):
            found = _without_ties(found, self.expected)
        return share_of_range(found, self.expected)


@dataclass(frozen=True)
class OperatorError:
    """`share`: the largest error as a share of the range; infinite for NaN. `is_right`: it is small enough."""

    share: float
    is_right: bool


class Agreement:
    """The tensors of a part on a device, compared with the reference.

    The arguments are those of the `Runtime` that computes them.

    sites: where the plan computes operators, in its order. written: the tensor of each operator, as
    `Runtime.observe` reads them. output: name of the tensor that holds the scores.
    """

    def __init__(
        self, part: ModelPart, device: Device, *, batch: int, precision: Precision, chooser: Chooser
    ) -> None:
        listener = Listener(chooser)
        plan = make_plan(part, device, batch, precision, listener)
        self._graph, self._output_begins = part.graph, part.output_begins
        self._prepared_name = plan.prepared.name if plan.prepared else part.graph.input
        self._prepared_limit = HALF_TOLERANCE if precision in STORED else TOLERANCE
        self.sites: tuple[Site[Any], ...] = tuple(listener.sites)
        self.written = written_tensors(plan, self.sites)
        self.output = plan.output.name
        self.first_kernel = plan.launches[0].kernel

    def outputs(self, found: Array, expected: Array) -> float:
        """Return the largest error of the network's outputs [n, values], each as a share of its own range.

        A detector may have scores up to 1 in one output, and pixels up to 640 in another.
        """
        pairs = (
            np.split(each.reshape(len(found), -1), self._output_begins[1:], axis=1) for each in (found, expected)
        )
        return max(share_of_range(*pair) for pair in zip(*pairs, strict=True))

    def prepared(self, tensors: Mapping[str, Array], inputs: Float32) -> OperatorError | None:
        """Compare the output of the first kernel, which prepares pictures; None where the plan has none.

        `inputs`: the prepared pictures of the reference.
        """
        found = tensors.get(self._prepared_name)
        if found is None:
            return None
        share = share_of_range(found, self.prepared_by_reference(inputs))
        return OperatorError(share, share <= self._prepared_limit)

    def prepared_by_reference(self, inputs: Float32) -> Array:
        """Return what the first kernel is to write: prepared pictures, or their steps of 8 bits."""
        operators = self._graph.operators
        quantize = next((operator for operator in operators if operator.output == self._prepared_name), None)
        return reference.compute(quantize, inputs) if quantize else inputs

    def operator(self, site: Site[Any], tensors: Mapping[str, Array], dtype: DTypeLike) -> OperatorError | None:
        """Compare an operator's output of the last frame for its inputs on the device, computed in `dtype`.

        `tensors`: [n, channels, height, width] by name. None if the right answer is not finite, or too large for
        the tensor's type.
        """
        inputs = tuple(np.asarray(each, dtype) for each in inputs_in_graph(self._graph, site, tensors))
        if not all(np.isfinite(each).all() for each in inputs):
            return None
        expected = _computed(_as_stored(site), inputs)
        is_half = site.output.element is Element.FLOAT16
        if not np.isfinite(expected).all() or (is_half and np.abs(expected).max() > LARGEST_HALF):
            return None
        found = np.asarray(tensors[site.output.name][-1:], np.float32).reshape(expected.shape)
        problem = ReferenceProblem(site, inputs, expected)
        share = problem.error(found)
        rounding = problem.tolerance * _bound(site.operator, inputs)
        return OperatorError(share, bool(share <= problem.tolerance or np.abs(found - expected).max() <= rounding))


def written_tensors(plan: Plan, sites: Sequence[Site[Any]]) -> dict[str, Tensor]:
    """Return the tensor that each operator writes, also on the host, by the operator's name; not the output."""
    in_memory = {tensor.name: tensor for launch in plan.launches for tensor in launch.tensors}
    outputs = {site.operator.name: site.output.name for site in sites}
    outputs |= {call.operator: call.output.name for call in plan.launches if isinstance(call, HostCall)}
    if plan.prepared:
        outputs[plan.launches[0].operator] = plan.prepared.name
    return {operator: in_memory[name] for operator, name in outputs.items() if name != plan.output.name}


def inputs_in_graph(graph: Graph, site: Site[Any], tensors: Mapping[str, Array]) -> Iterator[Array]:
    """Yield what an operator read of the last frame.

    `tensors` are those of the device, [n, channels, height, width]: also of features, of which an operator may
    read some that lie there as an image. A frame with more axes gets those that it has in the graph.
    """
    for tensor in site.inputs:
        values, shape = tensors[tensor.name][-1:], graph.shapes.get(tensor.name, ())
        yield values.reshape(1, *shape) if len(shape) > IMAGE_AXES else values


def _as_stored(site: Site[Any]) -> Operator:
    """Return the operator with the weights that the device has: rounding them is not an error of its kernels."""
    operator: Operator = site.operator
    if not site.half_weights or not isinstance(operator, Conv | Dense):
        return operator
    with np.errstate(over="ignore"):
        return replace(operator, weight=operator.weight.astype(np.float16).astype(np.float32))


def _rounds_activation(operator: Operator) -> bool:
    """Return whether an operator writes steps of an activation, whose last bits differ between devices."""
    return isinstance(operator, QuantizedConv) and operator.bounds is not None and operator.activation != LINEAR


def _without_ties(found: Array, expected: Array) -> Array:
    """Return what was found, with the expected steps where the next ones were found, if these are few."""
    is_next = np.abs(found - expected) == 1
    return np.where(is_next, expected, found) if is_next.sum() <= 1 + MOST_TIES * is_next.size else found


def _computed(operator: Operator, inputs: tuple[Array, ...]) -> Array:
    if isinstance(operator, Dense):
        inputs = tuple(x.reshape(len(x), -1) for x in inputs)
    return reference.compute(operator, *inputs)


def _bound(operator: Operator, inputs: tuple[Array, ...]) -> float:
    """Return the largest sum of the products' absolute values, which bounds rounding even if the sums cancel."""
    if not isinstance(operator, Conv | Dense | Add | AveragePool):
        return 0.0
    if isinstance(operator, Conv | Dense):
        operator = replace(operator, weight=np.abs(operator.weight), bias=np.abs(operator.bias))
    return float(_computed(operator, tuple(map(np.abs, inputs))).max())


def share_of_range(found: Array, expected: Array) -> float:
    """Return the largest error as a share of the largest value of `expected`; infinite for NaN."""
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30))
