"""Softmax over the channels of each pixel."""

from dataclasses import replace

from edged.engine.launch import Launch
from edged.engine.variants.pixelwise import pixelwise
from edged.engine.variants.variant import Parameters, Site, Variant
from edged.model.graph import Softmax


def _launches(site: Site[Softmax], parameters: Parameters) -> tuple[Launch, ...]:
    return (replace(pixelwise("softmax", site), planes=1),)


SOFTMAX = Variant("softmax", _launches)
