"""The macros of `steps.cl`, which the kernels of quantized operators share."""

from edged.engine.layout import Defines, float_bits
from edged.model.graph import Pair, QuantizedConv


def bounds_defines(bounds: Pair | None) -> Defines:
    """Return the macros for the bounds of steps; None: there are no steps."""
    low, high = bounds or (0, 0)
    return {"STEP_LOW": low, "STEP_HIGH": high, "WRITES_STEPS": int(bounds is not None)}


def sum_defines(factors: tuple[float, float]) -> Defines:
    """Return the macros for a sum of steps with these factors."""
    first, second = map(float_bits, factors)
    return {"RATIO_A": first, "RATIO_B": second}


def end_defines(conv: QuantizedConv) -> Defines:
    """Return the macros of `quantized_end.cl`."""
    low, high = conv.own_bounds or (0, 0)
    own = {"OWN_LOW": low, "OWN_HIGH": high, "OWN_FIRST": int(conv.is_first), **sum_defines(conv.factors)}
    return {**bounds_defines(conv.bounds), **(own if conv.own_bounds else {})}
