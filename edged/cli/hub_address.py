"""Find the hub that a camera or worker process joins."""

from pathlib import Path

from edged.config import Config
from edged.errors import ConfigError
from edged.transport.client_socket import Curve, curve_of


def hub_of(config: Config, file: Path, address: str | None) -> tuple[str, Curve | None]:
    """Return the hub's address and our keys.

    `address`: given by the hub that started this process; None: as in the config. Raises ConfigError.
    """
    if address is not None:
        return address, None
    if config.link.address is None:
        raise ConfigError(
            f"{file}: link.address is missing: expected the address of the hub, such as tcp://192.168.1.10:5572"
        )
    security = config.security
    if security and not security.hub:
        raise ConfigError(
            f"{file}: security.hub is missing: expected the public key (.pub) of the hub at {config.link.address}"
        )
    return config.link.address, curve_of(security.key, security.hub) if security else None
