"""Where a camera or worker that a person starts finds its hub, and by which keys it is let in."""

from pathlib import Path

from edged.config import Config
from edged.errors import ConfigError
from edged.transport.client_socket import Curve, curve_of


def hub_of(config: Config, file: Path, address: str | None) -> tuple[str, Curve | None]:
    """The hub's address and our keys: as given by the hub that has started us, else as the file says.

    Raises ConfigError.
    """
    if address is not None:
        return address, None
    if config.link.address is None:
        raise ConfigError(
            f"{file}: link.address is missing: where is the hub? Give its address there, as in tcp://192.168.1.10:5572"
        )
    security = config.security
    if security and not security.hub:
        raise ConfigError(
            f"{file}: security.hub is missing: the public key (.pub) of the hub at {config.link.address}"
        )
    return config.link.address, curve_of(security.key, security.hub) if security else None
