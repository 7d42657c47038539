"""Convert values to steps and back, add steps; the macros of `steps.cl`, which the quantized kernels share."""

from edged.engine.launch import Launch
from edged.engine.layout import Defines, float_bits
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.activations import LINEAR
from edged.model.graph import Dequantize, Pair, Quantize, QuantizedAdd, QuantizedConv


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
    scale = {} if conv.activation == LINEAR else {"SCALE": float_bits(conv.scale)}
    own = {"OWN_LOW": low, "OWN_HIGH": high, "OWN_FIRST": int(conv.is_first), **sum_defines(conv.factors)}
    return {**bounds_defines(conv.bounds), **scale, **(own if conv.own_bounds else {})}


def _quantize(site: Site[Quantize], parameters: Parameters) -> tuple[Launch, ...]:
    operator = site.operator
    return (pixelwise("quantize", site, {**bounds_defines(operator.bounds), "SCALE": float_bits(operator.scale)}),)


QUANTIZE = Variant("quantize", _quantize)


def _dequantize(site: Site[Dequantize], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("dequantize", site, {**bounds_defines(None), "SCALE": float_bits(site.operator.scale)}),)


DEQUANTIZE = Variant("dequantize", _dequantize)


def _quantized_add(site: Site[QuantizedAdd], parameters: Parameters) -> tuple[Launch, ...]:
    defines = {**bounds_defines(site.operator.bounds), **sum_defines(site.operator.factors)}
    return (pixelwise("quantized_add", site, defines),)


QUANTIZED_ADD = Variant("quantized_add", _quantized_add)
