"""Compare what a device wrote for one operator with the reference, for the same inputs."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.layout import Element
from edged.engine.tuning.problem import ReferenceProblem
from edged.engine.variants.variant import Site
from edged.model import reference
from edged.model.graph import Add, AveragePool, Conv, Dense, Operator

LARGEST_HALF = 65504

Array = NDArray[Any]


@dataclass(frozen=True)
class OperatorError:
    """`share`: the largest error as a share of the range; infinite for NaN. `is_right`: it is small enough."""

    share: float
    is_right: bool


def operator_error(site: Site[Any], inputs: tuple[Array, ...], written: Array) -> OperatorError | None:
    """Compare an operator's output, whose inputs on the device were `inputs`: errors before it do not count.

    Computed in the dtype of `inputs`. None if the right answer is not finite, or too large for the tensor's type.
    """
    if not all(np.isfinite(each).all() for each in inputs):
        return None
    expected = _computed(site.operator, inputs)
    is_half = site.output.element is Element.FLOAT16
    if not np.isfinite(expected).all() or (is_half and np.abs(expected).max() > LARGEST_HALF):
        return None
    found = np.asarray(written, np.float32).reshape(expected.shape)
    problem = ReferenceProblem(site, inputs, expected)
    share = problem.error(found)
    is_right = share <= problem.tolerance or np.abs(found - expected).max() <= problem.tolerance * _bound(
        site.operator, inputs
    )
    return OperatorError(share, bool(is_right))


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
