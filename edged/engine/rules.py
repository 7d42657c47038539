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
WINOGRAD_PIXELS = 49


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
        """The first by name that can; else the first of all that can."""
        fitting = [variant for variant in VARIANTS[type(site.operator)] if variant.can_compute(site)]
        wanted = self._wanted(site)
        variant = next((variant for name in wanted for variant in fitting if variant.name == name), fitting[0])
        return Choice(variant, variant.parameters(site)[0])

    def _wanted(self, site: Site[Any]) -> tuple[str, ...]:
        """What is asked for; else a CPU's tiles in registers, a GPU's many work-items.

        Winograd's weights are 16/9 or 4 times as many. Where few pixels use each, that costs more than is saved.
        """
        if self.conv != "auto":
            return (f"conv_{self.conv}",)
        if site.device.kind != "cpu":
            return ("conv_depthwise", "conv_general", "dense_split")
        wide = ("conv_winograd", "conv_vector") if site.pixels >= WINOGRAD_PIXELS else ("conv_vector",)
        return ("conv_depthwise", *wide)
