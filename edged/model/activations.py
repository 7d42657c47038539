"""Functions of one number, which a network applies to each value of a tensor.

Formulas are those of the ONNX operator specification (https://onnx.ai/onnx/operators/).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[[Array, float, float], Array]

ERFC = (
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
)  # fmt: skip


class Activation(NamedTuple):
    """`kind` is a key of `FUNCTIONS`, which says what `alpha` and `beta` mean."""

    kind: str
    alpha: float = 0.0
    beta: float = 0.0

    def __str__(self) -> str:
        return self.kind

    @property
    def keeps_zero(self) -> bool:
        """Return whether 0 becomes 0, so that padding stays zero."""
        with np.errstate(all="ignore"):  # of a logarithm
            return float(apply(self, np.zeros(1, np.float64))[0]) == 0.0


LINEAR = Activation("linear")
RELU = Activation("relu")
RELU6 = Activation("clip", 0.0, 6.0)
SIGMOID = Activation("sigmoid")
HARD_SIGMOID = Activation("hard_sigmoid", float(np.float32(1 / 6)), 0.5)  # as MobileNetV3 has it
HARD_SWISH = Activation("hard_swish")


def apply(activation: Activation, x: Array) -> Array:
    """Return the activation of each value of `x`, in its dtype."""
    return np.asarray(FUNCTIONS[activation.kind](x, activation.alpha, activation.beta), x.dtype)


def _sigmoid(x: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """1 ÷ (1 + e⁻ˣ), with no power that overflows."""
    power = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + power), power / (1 + power))


def _softplus(x: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """log(1 + eˣ), with no power that overflows."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.clip(alpha * x + beta, 0, 1)


def _gelu_by_tanh(x: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """Return GELU by its formula with tanh (Hendrycks and Gimpel, 2016), up to 5e-4 from the one with erf."""
    inner = x.dtype.type(np.sqrt(2 / np.pi)) * (x + x.dtype.type(0.044715) * x**3)
    return np.asarray(0.5 * x * (1 + np.tanh(inner)))


def _erf(x: Array, alpha: float = 0.0, beta: float = 0.0) -> Array:
    """Return the error function of float32 or float64 values, to 1.2e-7.

    Numerical Recipes' rational Chebyshev fit of erfc, since NumPy has none.
    """
    t = 1 / (1 + 0.5 * np.abs(x))
    polynomial = np.polynomial.polynomial.polyval(t, ERFC)
    tail = t * np.exp(-x * x + polynomial)
    return np.where(x >= 0, 1 - tail, tail - 1)


FUNCTIONS: Mapping[str, Function] = {
    "linear": lambda x, alpha, beta: x,
    "relu": lambda x, alpha, beta: np.maximum(x, 0),
    "clip": np.clip,
    "leaky_relu": lambda x, alpha, beta: np.where(x < 0, alpha * x, x),
    "elu": lambda x, alpha, beta: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x),
    "selu": lambda x, alpha, gamma: gamma * np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x),
    "sigmoid": _sigmoid,
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": lambda x, alpha, beta: x * _hard_sigmoid(x, 1 / 6, 0.5),
    "silu": lambda x, alpha, beta: x * _sigmoid(x),
    "tanh": lambda x, alpha, beta: np.tanh(x),
    "softplus": _softplus,
    "softsign": lambda x, alpha, beta: x / (1 + np.abs(x)),
    "mish": lambda x, alpha, beta: x * np.tanh(_softplus(x)),
    "gelu": lambda x, alpha, beta: 0.5 * x * (1 + _erf(x / np.sqrt(2).astype(x.dtype))),
    "erf": _erf,
    "exp": lambda x, alpha, beta: np.exp(x),
    "log": lambda x, alpha, beta: np.log(x),
    "sqrt": lambda x, alpha, beta: np.sqrt(x),
    "reciprocal": lambda x, alpha, beta: 1 / x,
    "absolute": lambda x, alpha, beta: np.abs(x),
    "gelu_by_tanh": _gelu_by_tanh,
}
