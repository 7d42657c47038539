"""Which variant computes an operator, and with which parameters."""

from dataclasses import dataclass
from typing import Any, Protocol

from edged.engine.device import Device
from edged.engine.variants.variant import AnyVariant, Parameters, Site


@dataclass(frozen=True)
class Choice:
    """A variant that can compute a site, with parameters for it."""

    variant: AnyVariant
    parameters: Parameters

    def __str__(self) -> str:
        return " ".join([self.variant.name, *(f"{name}={value}" for name, value in self.parameters.items())])


class Chooser(Protocol):
    """What decides for a whole plan: rules, or tuning records."""

    def channel_block(self, device: Device) -> int:
        """Channels that lie side by side in every tensor: 1, 4, 8 or 16."""

    def choose(self, site: Site[Any]) -> Choice:
        """For one operator. The site's tensors have no halo yet."""
