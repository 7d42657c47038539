"""What may be known of a tensor's values: shares of 1, numbers up to 1, any numbers; and what follows from it."""

from dataclasses import dataclass
from math import isclose
from typing import Literal

import numpy as np

from edged.model.activations import LINEAR, Activation
from edged.model.graph import Float32

Kind = Literal[
    "shares",
    "logarithms",
    "bounded",
    "negated",
    "negated_shares",
    "positive",
    "any",
    "unknown",
    "sum",
    "inverse_sum",
    "log_sum",
]

NEGLIGIBLE = 1e-3  # what is added to keep a quotient finite, or cut off to keep a logarithm so
# Functions of any number whose results have no bound either.
WITHOUT_BOUND = frozenset(
    {
        "relu",
        "leaky_relu",
        "elu",
        "selu",
        "hard_swish",
        "silu",
        "mish",
        "gelu",
        "gelu_by_tanh",
        "softplus",
        "absolute",
    }
)


@dataclass(frozen=True)
class Values:
    """What is known of the values of a frame's tensor.

    kind: `shares` are not negative and their sum over the channels of a pixel is `total` (0: some are left out, so
    that it is unknown); `logarithms` are those of shares of 1; `bounded` lie from 0 to `total`, `negated` from
    −`total` to 0, as do `negated_shares`, which were shares; `positive` have no upper bound; `any` have no known
    bound, as of a convolution; `sum`, `inverse_sum` and `log_sum` are those of the channels of the values `of`,
    times `total`.

    name: of the tensor that had these values first; others have them in another shape. of: also the name of x,
    where these values are eˣ, −x or `total` − x. is_rectified: those of `any` kind are not negative.
    """

    kind: Kind
    total: float = 0.0
    of: str = ""
    name: str = ""
    is_rectified: bool = False

    @property
    def is_positive(self) -> bool:
        """Return whether no value is negative."""
        return self.kind in {"shares", "bounded", "positive"} or self.is_rectified

    def times(self, factor: float) -> "Values":
        """Return what is known of these values times `factor`, which is not 1."""
        if factor < 0 and self.kind in {"shares", "bounded"}:
            kind: Kind = "negated_shares" if self.kind == "shares" else "negated"
            return Values(kind, -factor * self.total, self.name)
        if factor <= 0 or self.kind not in {"shares", "bounded", "positive", "sum"}:
            return UNKNOWN
        return Values(self.kind, self.total * factor, self.of if self.kind == "sum" else "")


ANY = Values("any")
UNKNOWN = Values("unknown")
SHARES = Values("shares", 1.0)


def activated(activation: Activation, values: Values) -> Values:
    """Return what is known of the activation of `values`."""
    kind = activation.kind
    if activation == LINEAR or (kind in {"relu", "absolute"} and values.is_positive):
        return values
    if kind == "clip":
        return clipped(values, activation.alpha, activation.beta)
    if kind == "exp":
        return SHARES if values.kind == "logarithms" else Values("positive", of=values.name)
    if kind in {"sigmoid", "hard_sigmoid"}:
        return Values("bounded", 1.0)
    if values.kind == "any" and kind in WITHOUT_BOUND:
        return Values("any", is_rectified=kind in {"relu", "softplus", "absolute"})
    return {
        ("log", "shares"): Values("logarithms"),
        ("log", "sum"): Values("log_sum", values.total, values.of),
        ("reciprocal", "sum"): Values("inverse_sum", values.total, values.of),
    }.get((kind, values.kind), UNKNOWN)


def clipped(values: Values, low: float, high: float) -> Values:
    """Return what is known of values that are clipped: most files clip shares only to keep logarithms finite."""
    if values.kind in {"shares", "bounded"} and low <= NEGLIGIBLE:
        return values if high >= values.total - NEGLIGIBLE else Values("bounded", high)
    if values.kind == "logarithms":
        return values if high >= -NEGLIGIBLE else UNKNOWN
    if low >= 0 and isclose(high, 1.0, abs_tol=NEGLIGIBLE):
        return Values("bounded", 1.0)  # a sigmoid of straight lines
    return ANY if values.kind == "any" else UNKNOWN


def some_of(values: Values, *, complete: bool) -> Values:
    """Return what is known where some of `values` are left out or are in another order."""
    if complete:
        return values
    return Values(values.kind, 0.0 if values.kind == "shares" else values.total)


def sum_of(a: Values, b: Values) -> Values:
    """Return what is known of a + b."""
    if a.kind == b.kind and a.kind in {"shares", "bounded"} and a.total and b.total:
        return Values(a.kind, a.total + b.total)
    return ANY if "any" in {a.kind, b.kind} else UNKNOWN


def product_of(a: Values, b: Values) -> Values:
    """Return what is known of a · b, where one may be the inverse of the other's sum."""
    for values, inverse in ((a, b), (b, a)):
        if inverse.kind == "inverse_sum" and inverse.of == values.name and values.is_positive:
            return Values("shares", 1 / inverse.total)
    if {a.kind, b.kind} <= {"shares", "bounded"} and a.total and b.total:
        return Values("bounded", a.total * b.total)
    return ANY if "any" in {a.kind, b.kind} else UNKNOWN


def affine(values: Values, factor: Float32, offset: Float32, channels: int) -> Values:
    """Return what is known of factor · x + offset, where `values` are those of x, a pixel of so many channels."""
    if values.kind == "any":
        return ANY
    if np.ptp(factor) or np.ptp(offset):
        is_less = 0 <= factor.min() <= factor.max() <= 1 and not offset.any()
        return some_of(values, complete=False) if values.is_positive and is_less else UNKNOWN
    times, plus = float(factor.flat[0]), float(offset.flat[0])
    scaled = values if times == 1 else values.times(times)
    if abs(plus) <= NEGLIGIBLE:
        return scaled
    if scaled.kind not in {"negated", "negated_shares"} or not isclose(scaled.total, plus):
        return UNKNOWN
    are_shares = scaled.kind == "negated_shares" and channels == 2  # 1 − p and 1 − q of p + q = 1
    return Values("shares" if are_shares else "bounded", plus, scaled.of)
