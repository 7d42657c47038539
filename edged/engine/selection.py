"""Select a variant and its parameters for an operator: all candidates, and the rules for an untuned device."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol

from edged.engine.device import Device
from edged.engine.instructions import AVX512_BF16
from edged.engine.layout import Element
from edged.engine.programs import source_of, takes_halves
from edged.engine.variants import VARIANTS
from edged.engine.variants.conv_frequencies import CONV_FREQUENCIES, has_fewer_cycles
from edged.engine.variants.conv_winograd import CONV_WINOGRAD, is_profitable
from edged.engine.variants.variant import AnyVariant, Parameters, Site
from edged.errors import ConfigError
from edged.model.graph import Conv

LOADS_EIGHT_HALVES = "mali-"  # 16 bytes at once


@dataclass(frozen=True)
class Choice:
    """A variant that can compute a site, with parameters for it."""

    variant: AnyVariant
    parameters: Parameters

    def __str__(self) -> str:
        return " ".join([self.variant.name, *(f"{name}={value}" for name, value in self.parameters.items())])


class Chooser(Protocol):
    """Chooses the variants of a whole plan: by rules, or by tuning records."""

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return how many channels are stored side by side in every tensor of `element`: 1, 4, 8 or 16."""

    def choose(self, site: Site[Any]) -> Choice:
        """Choose for one operator. The site's tensors have no halo yet."""


def candidates(site: Site[Any]) -> tuple[Choice, ...]:
    """Return each variant that can compute `site` with all parameters worth trying, the best guess first."""
    return tuple(
        Choice(variant, parameters)
        for variant in VARIANTS[type(site.operator)]
        if variant.can_compute(site)
        for parameters in variant.parameters(site)
    )


def find_candidate(site: Site[Any], variant: str, parameters: Parameters) -> Choice | None:
    """Return the candidate of this name with these parameters, if there is one."""
    for choice in candidates(site):
        if choice.variant.name == variant and choice.parameters == parameters:
            return choice
    return None


def source_digest(site: Site[Any], *choices: Choice) -> str:
    """Return 12 hexadecimal digits that change when a choice or the source of its kernels does."""
    digest = sha256()
    for choice in choices:
        digest.update(f"{choice.variant.name} {sorted(choice.parameters.items())}".encode())
        for launch in choice.variant.launches(site, choice.parameters):
            digest.update(source_of(launch.kernel).encode())
    return digest.hexdigest()[:12]


CONVOLUTIONS = ("auto", *(variant.name.removeprefix("conv_") for variant in VARIANTS[Conv]))


@dataclass(frozen=True)
class Rules:
    """Chooses by rules. `conv`: the variant of convolutions, if it can compute them; auto: by device.

    Raises ConfigError for an unknown `conv`.
    """

    conv: str = "auto"

    def __post_init__(self) -> None:
        if self.conv not in CONVOLUTIONS:
            raise ConfigError(
                f"no convolution variant is called {self.conv!r}; there are: {', '.join(CONVOLUTIONS)}"
            )

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block for one vector instruction of the device, or for one access to its memory."""
        if self.conv == "naive":
            return 1
        if device.kind == "cpu":
            return 16 if device.vector_width >= 16 else 8 if device.vector_width >= 8 else 4
        loads_eight = element is Element.FLOAT16 and LOADS_EIGHT_HALVES in device.name.casefold()
        return 8 if loads_eight and takes_halves(device) else 4

    def choose(self, site: Site[Any]) -> Choice:
        """Return the variant named by the rules if it can compute the site; else the first that can."""
        fitting = [variant for variant in VARIANTS[type(site.operator)] if variant.can_compute(site)]
        wanted = self._wanted(site, fitting)
        variant = next((variant for name in wanted for variant in fitting if variant.name == name), fitting[0])
        return Choice(variant, variant.parameters(site)[0])

    def _wanted(self, site: Site[Any], fitting: Sequence[AnyVariant]) -> tuple[str, ...]:
        """Return the variants to prefer: the requested one; else a CPU's tiles in registers, or many items."""
        if self.conv != "auto":
            return (f"conv_{self.conv}",)
        if site.device.kind != "cpu":
            few = CONV_FREQUENCIES in fitting and has_fewer_cycles(site)
            return ("conv_depthwise", *(["conv_frequencies"] if few else []), "conv_general", "dense_split")
        winograd = CONV_WINOGRAD in fitting and is_profitable(site)
        fast = ("conv_bfloat16",) if AVX512_BF16 in site.device.instructions else ()
        return ("conv_depthwise", *fast, "conv_winograd" if winograd else "conv_vector")


@dataclass(frozen=True)
class Listener:
    """Chooses as `chooser` does, and records the sites."""

    chooser: Chooser
    sites: list[Site[Any]] = field(default_factory=list)

    def channel_block(self, device: Device, element: Element = Element.FLOAT32) -> int:
        """Return the block size that `chooser` chooses."""
        return self.chooser.channel_block(device, element)

    def choose(self, site: Site[Any]) -> Choice:
        """Return the choice of `chooser`, and record the site."""
        self.sites.append(site)
        return self.chooser.choose(site)
