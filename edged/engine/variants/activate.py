"""An activation that could not be fused into what comes before, and the macros of `activation.cl`."""

from edged.engine.launch import Launch
from edged.engine.layout import Defines, float_bits
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.activations import FUNCTIONS, Activation
from edged.model.graph import Activate

NUMBERS = {kind: number for number, kind in enumerate(FUNCTIONS)}  # as `activation.cl` has them


def activation_defines(activation: Activation) -> Defines:
    """Return the macros of `activation.cl`."""
    return {
        "ACTIVATION": NUMBERS[activation.kind],
        "ACTIVATION_ALPHA": float_bits(activation.alpha),
        "ACTIVATION_BETA": float_bits(activation.beta),
    }


def _launches(site: Site[Activate], parameters: Parameters) -> tuple[Launch, ...]:
    return (pixelwise("activate", site, activation_defines(site.operator.activation)),)


ACTIVATE = Variant("activate", _launches)
