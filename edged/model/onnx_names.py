"""Name ONNX's operators for what edged computes: the reader reads these names, the exporter writes them."""

from collections.abc import Mapping
from typing import NamedTuple

# Activations without attributes.
ACTIVATIONS: Mapping[str, str] = {
    "Abs": "absolute",
    "Erf": "erf",
    "Exp": "exp",
    "HardSwish": "hard_swish",
    "Log": "log",
    "Mish": "mish",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sqrt": "sqrt",
    "Tanh": "tanh",
}


class WithAttributes(NamedTuple):
    """An activation whose numbers `alpha` and `beta`, in this order, are attributes with these defaults."""

    kind: str
    defaults: Mapping[str, float]


ACTIVATIONS_WITH_ATTRIBUTES: Mapping[str, WithAttributes] = {
    "Elu": WithAttributes("elu", {"alpha": 1.0}),
    "HardSigmoid": WithAttributes("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "LeakyRelu": WithAttributes("leaky_relu", {"alpha": 0.01}),
    "Selu": WithAttributes("selu", {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875}),
}
# Arithmetic of two tensors.
COMBINATIONS: Mapping[str, str] = {
    "Add": "add",
    "Div": "divide",
    "Max": "maximum",
    "Min": "minimum",
    "Mul": "multiply",
    "PRelu": "prelu",
    "Pow": "power",
    "Sub": "subtract",
}
REDUCTIONS: Mapping[str, str] = {
    "ReduceMax": "maximum",
    "ReduceMean": "mean",
    "ReduceMin": "minimum",
    "ReduceSum": "sum",
}
