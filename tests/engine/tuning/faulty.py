"""Variants that must never be chosen: a real kernel that computes something else, and one that no driver takes."""

from dataclasses import replace
from typing import Any

from edged.engine.launch import Launch
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.engine.variants.variant import Parameters, Site, Variant


def _shifted(site: Site[Any], parameters: Parameters) -> tuple[Launch, ...]:
    (launch,) = CONV_GENERAL.launches(site, parameters)
    return (replace(launch, defines={**launch.defines, "PAD_LEFT": launch.defines["PAD_LEFT"] + 1}),)


def _no_source(site: Site[Any], parameters: Parameters) -> tuple[Launch, ...]:
    (launch,) = CONV_GENERAL.launches(site, parameters)
    return (replace(launch, defines={**launch.defines, "vector": 0}),)


CONV_WRONG = Variant("conv_wrong", _shifted, CONV_GENERAL.parameters)
CONV_BROKEN = Variant("conv_broken", _no_source, CONV_GENERAL.parameters)
