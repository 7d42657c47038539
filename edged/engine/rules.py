"""The choice for a device that nobody has tuned for."""

from dataclasses import dataclass
from typing import Any

from edged.engine.choice import Choice
from edged.engine.device import Device
from edged.engine.variants import VARIANTS
from edged.engine.variants.variant import Site
from edged.errors import ConfigError
from edged.model.graph import Conv

CONVOLUTIONS = ("auto", *(variant.name.removeprefix("conv_") for variant in VARIANTS[Conv]))


@dataclass(frozen=True)
class Rules:
    """`conv` names the variant of the convolutions, where it is able, or leaves it to the device (auto).

    Raises ConfigError for an unknown `conv`.
    """

    conv: str = "auto"

    def __post_init__(self) -> None:
        if self.conv not in CONVOLUTIONS:
            raise ConfigError(
                f"no convolution variant is called {self.conv!r}; there are: {', '.join(CONVOLUTIONS)}"
            )

    def channel_block(self, device: Device) -> int:
        """What one instruction of the device works on."""
        if self.conv == "naive":
            return 1
        if device.kind == "cpu":
            return 16 if device.vector_width >= 16 else 8 if device.vector_width >= 8 else 4
        return 4

    def choose(self, site: Site[Any]) -> Choice:
        """The variant that is asked for; a CPU's tile in registers, a GPU's many work-items."""
        fitting = [variant for variant in VARIANTS[type(site.operator)] if variant.can_compute(site)]
        wanted = self.conv if self.conv != "auto" else "vector" if site.device.kind == "cpu" else "general"
        named = [variant for variant in fitting if variant.name == f"conv_{wanted}"]
        variant = (named or fitting)[0]
        return Choice(variant, variant.parameters(site)[0])
