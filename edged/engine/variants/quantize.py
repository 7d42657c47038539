"""Steps of values, values of steps, and the steps of a sum."""

import numpy as np

from edged.engine.launch import Launch
from edged.engine.layout import Defines
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Dequantize, Pair, Quantize, QuantizedAdd


def bounds_defines(bounds: Pair | None) -> Defines:
    """Return the macros of `steps.cl` for the bounds of steps; None: there are no steps."""
    low, high = bounds or (0, 0)
    return {"STEP_LOW": low, "STEP_HIGH": high, "WRITES_STEPS": int(bounds is not None)}


def _bits(number: float) -> int:
    return int(np.float32(number).view(np.int32))


def _quantize(site: Site[Quantize], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    return (pixelwise("quantize", site, {**bounds_defines(operator.bounds), "SCALE": _bits(operator.scale)}),)


def _dequantize(site: Site[Dequantize], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("dequantize", site, {"STEP_LOW": 0, "SCALE": _bits(site.operator.scale)}),)


def _add(site: Site[QuantizedAdd], parameters: Parameters) -> tuple[Launch, ...]:
    first, second = map(_bits, site.operator.factors)
    ratios = {"RATIO_A": first, "RATIO_B": second}
    return (pixelwise("quantized_add", site, {**bounds_defines(site.operator.bounds), **ratios}),)


QUANTIZE = Variant("quantize", _quantize)
DEQUANTIZE = Variant("dequantize", _dequantize)
QUANTIZED_ADD = Variant("quantized_add", _add)
