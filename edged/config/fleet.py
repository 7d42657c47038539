"""`nats` and `fleet`: the servers of a fleet, and which models this board takes from it."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from edged.config.paths import ConfigPath
from edged.config.sections import PLAIN_NAME, PasswordFile, Positive, Section, Text
from edged.transport.address import NATS_ADDRESS, is_local

SUBJECT = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"
NatsAddress = Annotated[str, Field(pattern=NATS_ADDRESS)]
StreamName = Annotated[str, Field(pattern=PLAIN_NAME)]
SubjectPrefix = Annotated[str, Field(pattern=SUBJECT, max_length=128)]
TLS = "tls://"


class NatsTls(Section):
    """TLS of servers at tls://; all are PEM files, or credential:NAME of systemd."""

    ca: ConfigPath | None = Field(None, description="Certificate authorities to trust in place of the system's")
    certificate: ConfigPath | None = Field(
        None, description="Certificate of this host, where the server requires one"
    )
    key: ConfigPath | None = Field(
        None,
        validate_default=True,
        description="Its private key, without a passphrase, readable by its owner only (mode 0600)",
    )

    @field_validator("key")
    @classmethod
    def _of_the_certificate(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if (key is None) != (info.data.get("certificate") is None):
            raise ValueError("certificate and key require each other")
        return key

    @property
    def own(self) -> tuple[Path, Path] | None:
        """Return the certificate of this host and its key."""
        return (self.certificate, self.key) if self.certificate and self.key else None


class NatsConfig(Section):
    """The NATS servers of `edged bridge nats`. Secrets are files, readable by their owner only (mode 0600)."""

    insecure: bool = Field(False, description="Allow nats:// to another host: unencrypted, the password included")
    servers: tuple[NatsAddress, ...] = Field(
        min_length=1,
        max_length=16,
        description="tls://host or tls://host:4222, or nats://127.0.0.1:4222; of several, any one that answers",
    )
    credentials: ConfigPath | None = Field(
        None, description="File of a user (.creds), with its token and its seed; or credential:NAME of systemd"
    )
    nkey: ConfigPath | None = Field(None, description="In place of it: file with the seed of an NKey (SU…)")
    user: Text | None = Field(None, description="In place of both: user name")
    password_file: PasswordFile | None = Field(None, description="File that contains only the password of `user`")
    tls: NatsTls | None = Field(None, description="Authorities to trust, and a certificate of this host")
    stream: StreamName = Field(
        "EDGED", description="JetStream stream of predictions and events; it is created if there is none"
    )
    subject: SubjectPrefix = Field("edged", description="Subjects are SUBJECT.NODE.CAMERA.prediction and the like")
    domain: StreamName | None = Field(
        None, description="JetStream domain of the fleet's server, which a leaf node without JetStream requires"
    )
    snapshots: bool = Field(False, description="Publish the pictures of cameras that have `snapshot`, too")
    max_megabytes: int = Field(
        1024, ge=1, le=100_000_000, description="Largest size of a stream that is created here"
    )
    max_age_days: Positive = Field(30.0, description="Largest age of messages in a stream that is created here")

    @field_validator("servers")
    @classmethod
    def _encrypted_or_local(cls, servers: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if is_mixed(servers):
            raise ValueError("must be all tls://, or all nats://")
        for server in servers:
            if not (server.startswith(TLS) or _is_here(server) or info.data.get("insecure")):
                raise ValueError(f"{server} is unencrypted: use tls://, or add insecure: true beside it")
        return servers

    @field_validator("nkey", "user")
    @classmethod
    def _one_identity(cls, value: Path | str | None, info: ValidationInfo) -> Path | str | None:
        others = [key for key in ("credentials", "nkey") if key != info.field_name and info.data.get(key)]
        if value is not None and others:
            raise ValueError(f"give {others[0]} or {info.field_name}, not both")
        return value

    @field_validator("tls")
    @classmethod
    def _of_encrypted_servers(cls, tls: NatsTls | None, info: ValidationInfo) -> NatsTls | None:
        if tls and not all(server.startswith(TLS) for server in info.data.get("servers", ())):
            raise ValueError("requires servers at tls://")
        return tls


def is_mixed(servers: tuple[str, ...]) -> bool:
    """Return whether some of these addresses are encrypted and some are not."""
    return len({server.startswith(TLS) for server in servers}) > 1


def _is_here(server: str) -> bool:
    host = server.partition("://")[2]
    return is_local(host if host.rpartition(":")[2].isdigit() else f"{host}:4222")


class FleetConfig(Section):
    """Models that `edged fleet agent` takes from the NATS servers of section `nats`."""

    signers: tuple[ConfigPath, ...] = Field(
        min_length=1,
        description="Public keys (NAME.signer.pub of `edged fleet key NAME`), or folders of such files. A model "
        "that none of them has signed is refused",
    )
    frames: int = Field(
        200, ge=10, le=100_000, description="Frames that a model answers beside the one that is published"
    )
    trial_s: float = Field(
        300.0, ge=1, le=3600, description="Longest time for these frames; with fewer the model is refused"
    )
    watch_s: Positive = Field(
        60.0,
        description="Time after a promotion until the gate is judged again, by the predictions of its second half",
    )
    max_megabytes: int = Field(1024, ge=1, le=100_000, description="Largest file of a model that is fetched")


class OperatorConfig(Section):
    """The file of `edged fleet publish`, `rollout`, `status` and others, which need no board."""

    nats: NatsConfig
