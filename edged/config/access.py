"""`security`, `link`, `publish` and `metrics`: what the hub listens at, and for whom."""

from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator

from edged.config.sections import HttpAddress, Section, ZmqAddress, is_encrypted, local_or_protected
from edged.transport.address import is_local


class Security(Section):
    """Who may subscribe from other hosts: ZeroMQ's CURVE. With it `publish` lets in nobody else, and encrypts."""

    key: Path = Field(
        description="This hub's secret: NAME.key of `edged keys new NAME`, for its owner alone (mode 0600); "
        "credential:NAME is systemd's (LoadCredential=NAME:/path/to/it)"
    )
    allow: tuple[Path, ...] = Field(
        description="Public keys (NAME.pub) of those who may subscribe, or folders of them; read again by "
        "`edged reload`, which also cuts off whose key has gone"
    )
    cameras: tuple[Path, ...] = Field((), description="The same for hosts whose cameras may send frames")
    workers: tuple[Path, ...] = Field((), description="The same for hosts whose workers may get them")
    hub: Path | None = Field(None, description="The hub's public key, for the cameras and workers of other hosts")


class Link(Section):
    """Where the hub meets cameras and workers of other hosts."""

    insecure: bool = Field(
        False, description="Allow an address beyond this host without `security`: unencrypted, for everybody"
    )
    address: ZmqAddress | None = Field(
        None, description="The hub's ZeroMQ address, as the other hosts reach it; default: no other hosts"
    )
    bind: ZmqAddress | None = Field(
        None, description="Where the hub listens, if that is not the same, as tcp://0.0.0.0:5572 is"
    )

    @field_validator("address", "bind")
    @classmethod
    def _local_unless_told(cls, address: str | None, info: ValidationInfo) -> str | None:
        return address if address is None else local_or_protected(address, info)


class Publish(Section):
    """The prediction stream."""

    insecure: bool = Field(
        False, description="Allow addresses beyond this host without `security`: unencrypted, for everybody"
    )
    address: ZmqAddress = Field(
        "tcp://127.0.0.1:5570", description="ZeroMQ PUB address; ipc:// is for this user alone"
    )
    replay: ZmqAddress = Field("tcp://127.0.0.1:5571", description="Where a subscriber fetches what it missed")
    top: int = Field(5, ge=1, le=100, description="Labels in each prediction")

    @field_validator("insecure")
    @classmethod
    def _secure_or_not(cls, insecure: bool, info: ValidationInfo) -> bool:
        if insecure and is_encrypted(info):
            raise ValueError("security: lets in nobody without a key: leave one of the two out")
        return insecure

    @field_validator("address", "replay")
    @classmethod
    def _local_unless_told(cls, address: str, info: ValidationInfo) -> str:
        return local_or_protected(address, info)

    @field_validator("replay")
    @classmethod
    def _two_ports(cls, replay: str, info: ValidationInfo) -> str:
        if replay == info.data.get("address"):
            raise ValueError("must not be the same as address")
        return replay


class Tls(Section):
    """TLS for the Prometheus endpoint; all three are PEM files, and credential:NAME is systemd's."""

    certificate: Path = Field(description="This host's certificate, then those between it and its authority's")
    key: Path = Field(description="Its private key, without a passphrase, for its owner alone (mode 0600)")
    client_ca: Path | None = Field(
        None, description="Authorities: who shows no certificate that one of them has signed may not scrape"
    )


class Metrics(Section):
    """The Prometheus endpoint."""

    tls: Tls | None = Field(None, description="Its certificate and key, and whose clients may scrape")
    insecure: bool = Field(
        False, description="Allow an address beyond this host without `tls.client_ca`: for everybody"
    )
    address: HttpAddress = Field("127.0.0.1:9464", description="host:port for /metrics")
    labels: int = Field(
        20, ge=0, le=1000, description="Labels of each camera that are counted by name; the rest are one, `other`"
    )

    @field_validator("address")
    @classmethod
    def _local_unless_told(cls, address: str, info: ValidationInfo) -> str:
        tls: Tls | None = info.data.get("tls")
        if is_local(address) or info.data.get("insecure") or (tls and tls.client_ca):
            return address
        raise ValueError(
            "is open to other hosts, for everybody: use 127.0.0.1, or add tls: with a client_ca, "
            "or insecure: true beside it"
        )
