"""Every way in which an operator could be computed."""

from hashlib import sha256
from typing import Any

from edged.engine.choice import Choice
from edged.engine.programs import source_of
from edged.engine.variants import VARIANTS
from edged.engine.variants.variant import Parameters, Site


def candidates(site: Site[Any]) -> tuple[Choice, ...]:
    """Each variant that can compute `site`, with all parameters worth trying, its best guess first."""
    return tuple(
        Choice(variant, parameters)
        for variant in VARIANTS[type(site.operator)]
        if variant.can_compute(site)
        for parameters in variant.parameters(site)
    )


def find_candidate(site: Site[Any], variant: str, parameters: Parameters) -> Choice | None:
    """The one of this name with these parameters, if there is."""
    for choice in candidates(site):
        if choice.variant.name == variant and choice.parameters == parameters:
            return choice
    return None


def source_digest(site: Site[Any], *choices: Choice) -> str:
    """12 hexadecimal digits that change when a choice or the source of its kernels does."""
    digest = sha256()
    for choice in choices:
        digest.update(f"{choice.variant.name} {sorted(choice.parameters.items())}".encode())
        for launch in choice.variant.launches(site, choice.parameters):
            digest.update(source_of(launch.kernel).encode())
    return digest.hexdigest()[:12]
