"""`security`, `link`, `publish`, `metrics`, `mqtt`, `view`: where the hub listens, and who may connect."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from edged.config.paths import ConfigPath
from edged.config.sections import (
    LIVE,
    HttpAddress,
    Name,
    PasswordFile,
    Section,
    Text,
    ZmqAddress,
    is_encrypted,
    local_or_protected,
)
from edged.transport.address import MQTT_ADDRESS, host_and_port, is_local

MQTT_TOPIC = r"^[^+#\s/]+(/[^+#\s/]+)*$"  # no wildcards


class SecurityConfig(Section):
    """ZeroMQ CURVE keys. With this section `publish` encrypts, and accepts listed keys only."""

    key: ConfigPath = Field(
        description="Secret key of this hub: NAME.key of `edged keys new NAME`, readable by its owner only "
        "(mode 0600), or credential:NAME of systemd (LoadCredential=NAME:/path/to/it)"
    )
    allow: Annotated[tuple[ConfigPath, ...], LIVE] = Field(
        description="Public keys (NAME.pub) of subscribers, or folders of such files. `edged reload` reads them "
        "again, and disconnects peers whose key was removed"
    )
    cameras: Annotated[tuple[ConfigPath, ...], LIVE] = Field((), description="The same for hosts that run cameras")
    workers: Annotated[tuple[ConfigPath, ...], LIVE] = Field((), description="The same for hosts that run workers")
    hub: ConfigPath | None = Field(
        None, description="Public key of the hub, for cameras and workers of other hosts"
    )


class LinkConfig(Section):
    """The endpoint for cameras and workers of other hosts."""

    insecure: bool = Field(
        False,
        description="Allow an address that other hosts can reach without `security`: unencrypted, open to all",
    )
    address: ZmqAddress | None = Field(
        None, description="ZeroMQ address of the hub, as other hosts reach it; default: none"
    )
    bind: ZmqAddress | None = Field(
        None, description="Address on which the hub listens, if it differs, such as tcp://0.0.0.0:5572"
    )

    @field_validator("address", "bind")
    @classmethod
    def _local_or_secured(cls, address: str | None, info: ValidationInfo) -> str | None:
        return address if address is None else local_or_protected(address, info)


class PublishConfig(Section):
    """The prediction stream."""

    insecure: bool = Field(
        False,
        description="Allow addresses that other hosts can reach without `security`: unencrypted, open to all",
    )
    address: ZmqAddress = Field(
        "tcp://127.0.0.1:5570", description="ZeroMQ PUB address; ipc:// is for this user only"
    )
    replay: ZmqAddress = Field(
        "tcp://127.0.0.1:5571", description="ZeroMQ address for replay of missed predictions"
    )
    top: Annotated[int, LIVE] = Field(5, ge=1, le=100, description="Labels in each prediction")

    @field_validator("insecure")
    @classmethod
    def _secure_or_not(cls, insecure: bool, info: ValidationInfo) -> bool:
        if insecure and is_encrypted(info):
            raise ValueError("contradicts security:, which requires keys: remove one of the two")
        return insecure

    @field_validator("address", "replay")
    @classmethod
    def _local_or_secured(cls, address: str, info: ValidationInfo) -> str:
        return local_or_protected(address, info)

    @field_validator("replay")
    @classmethod
    def _two_ports(cls, replay: str, info: ValidationInfo) -> str:
        if replay == info.data.get("address"):
            raise ValueError("must not be the same as address")
        return replay


class Tls(Section):
    """TLS of an HTTP server; all three are PEM files, or credential:NAME of systemd."""

    certificate: ConfigPath = Field(description="Certificate of this host, followed by the intermediate ones")
    key: ConfigPath = Field(
        description="Its private key, without a passphrase, readable by its owner only (mode 0600)"
    )
    client_ca: ConfigPath | None = Field(
        None, description="Certificate authorities: a client must present a certificate signed by one of them"
    )


class MqttConfig(Section):
    """The MQTT broker of `edged bridge mqtt`."""

    insecure: bool = Field(False, description="Allow mqtt:// to another host: unencrypted, the password included")
    address: Annotated[str, Field(pattern=MQTT_ADDRESS)] = Field(
        description="mqtts://host or mqtts://host:8883, with TLS; or mqtt://127.0.0.1:1883"
    )
    user: Text | None = Field(None, description="User name")
    password_file: PasswordFile | None = Field(None, description="File that contains only the password of `user`")
    ca: ConfigPath | None = Field(None, description="mqtts: authorities to trust in place of the system's, in PEM")
    certificate: ConfigPath | None = Field(
        None, description="mqtts: certificate of this host, in PEM, where the broker requires one"
    )
    key: ConfigPath | None = Field(
        None,
        validate_default=True,
        description="mqtts: its private key, in PEM, without a passphrase, readable by its owner only (mode 0600)",
    )
    topic: Annotated[str, Field(pattern=MQTT_TOPIC)] = Field(
        "edged", description="Topics are TOPIC/NODE/CAMERA/state and the like"
    )
    discovery: Annotated[str, Field(pattern=MQTT_TOPIC)] | None = Field(
        "homeassistant", description="Prefix of Home Assistant's discovery; null: none"
    )
    every_s: float = Field(
        1.0, ge=0, le=3600, description="Shortest time between two predictions of a camera, in seconds"
    )

    @field_validator("key")
    @classmethod
    def _of_the_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if (key is None) != (info.data.get("certificate") is None):
            raise ValueError("certificate and key require each other")
        return key

    @field_validator("address")
    @classmethod
    def _encrypted_or_local(cls, address: str, info: ValidationInfo) -> str:
        host = address.partition("://")[2]
        is_here = is_local(host if ":" in host else f"{host}:1883")
        if address.startswith("mqtts://") or is_here or info.data.get("insecure"):
            return address
        raise ValueError("is unencrypted: use mqtts://, or add insecure: true beside it")

    @property
    def own(self) -> tuple[Path, Path] | None:
        """Return the certificate of this host and its key."""
        return (self.certificate, self.key) if self.certificate and self.key else None

    @property
    def is_encrypted(self) -> bool:
        """Return whether the connection uses TLS."""
        return self.address.startswith("mqtts://")

    @property
    def host_and_port(self) -> tuple[str, int]:
        """Return where the broker is; without a port it is MQTT's own."""
        host = self.address.partition("://")[2]
        has_port = re.search(r":\d+$", host)
        return host_and_port(host if has_port else f"{host}:{8883 if self.is_encrypted else 1883}")


class ViewConfig(Section):
    """The page of `edged view --teach CONFIG`."""

    teachers: dict[Name, ConfigPath] = Field(
        {}, description="Who may teach from the page: by user name, the file that contains only the password"
    )


class MetricsConfig(Section):
    """The Prometheus endpoint."""

    tls: Tls | None = Field(None, description="TLS certificate and key, and the authorities of clients")
    insecure: bool = Field(
        False, description="Allow an address that other hosts can reach without `tls.client_ca`: open to all"
    )
    address: HttpAddress = Field("127.0.0.1:9464", description="host:port for /metrics")
    labels: int = Field(
        20,
        ge=0,
        le=1000,
        description="Number of labels of each camera that are counted by name; the others are counted as `other`",
    )

    @field_validator("address")
    @classmethod
    def _local_or_secured(cls, address: str, info: ValidationInfo) -> str:
        tls: Tls | None = info.data.get("tls")
        if is_local(address) or info.data.get("insecure") or (tls and tls.client_ca):
            return address
        raise ValueError(
            "accepts any host: use 127.0.0.1, or add tls: with a client_ca, or insecure: true beside it"
        )
