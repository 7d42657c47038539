"""Activations as nodes of ONNX's opset 13, several nodes where it has none for the whole function."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from edged.model.activations import Activation

X, BEFORE = "x", "before"  # what the activation reads, and what the step before wrote


@dataclass(frozen=True)
class Step:
    """A node. inputs: `X`, `BEFORE`, or a constant."""

    kind: str
    inputs: tuple[str | float, ...] = (X,)
    attributes: Mapping[str, float] = field(default_factory=dict)


def steps_of(activation: Activation) -> tuple[Step, ...]:
    """Return the nodes that compute an activation, in order; none if it is linear."""
    return STEPS[activation.kind](activation.alpha, activation.beta)


def _always(*steps: Step) -> Callable[[float, float], tuple[Step, ...]]:
    return lambda alpha, beta: steps


HARD_GATE = Step("HardSigmoid", (X,), {"alpha": float(np.float32(1 / 6)), "beta": 0.5})
GATED = Step("Mul", (X, BEFORE))
GELU = (
    Step("Mul", (X, math.sqrt(0.5))),
    Step("Erf", (BEFORE,)),
    Step("Add", (BEFORE, 1.0)),
    GATED,
    Step("Mul", (BEFORE, 0.5)),
)

STEPS: Mapping[str, Callable[[float, float], tuple[Step, ...]]] = {
    "linear": _always(),
    "relu": _always(Step("Relu")),
    "clip": lambda low, high: (Step("Clip", (X, low, high)),),
    "leaky_relu": lambda alpha, _: (Step("LeakyRelu", (X,), {"alpha": alpha}),),
    "elu": lambda alpha, _: (Step("Elu", (X,), {"alpha": alpha}),),
    "selu": lambda alpha, gamma: (Step("Selu", (X,), {"alpha": alpha, "gamma": gamma}),),
    "sigmoid": _always(Step("Sigmoid")),
    "hard_sigmoid": lambda alpha, beta: (Step("HardSigmoid", (X,), {"alpha": alpha, "beta": beta}),),
    "hard_swish": _always(HARD_GATE, GATED),
    "silu": _always(Step("Sigmoid"), GATED),
    "tanh": _always(Step("Tanh")),
    "softplus": _always(Step("Softplus")),
    "softsign": _always(Step("Softsign")),
    "mish": _always(Step("Softplus"), Step("Tanh", (BEFORE,)), GATED),
    "gelu": _always(*GELU),
    "erf": _always(Step("Erf")),
    "exp": _always(Step("Exp")),
    "log": _always(Step("Log")),
    "sqrt": _always(Step("Sqrt")),
    "reciprocal": _always(Step("Reciprocal")),
    "absolute": _always(Step("Abs")),
}
