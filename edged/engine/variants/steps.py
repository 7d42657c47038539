"""The macros of `steps.cl`, which the kernels of quantized operators share."""

from edged.engine.layout import Defines
from edged.model.graph import Pair


def bounds_defines(bounds: Pair | None) -> Defines:
    """Return the macros for the bounds of steps; None: there are no steps."""
    low, high = bounds or (0, 0)
    return {"STEP_LOW": low, "STEP_HIGH": high, "WRITES_STEPS": int(bounds is not None)}
