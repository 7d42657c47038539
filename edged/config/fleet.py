"""`fleet`: which models this board takes from its fleet, and how long it tries one."""

from pathlib import Path

from pydantic import Field

from edged.config.nats import NatsConfig
from edged.config.sections import Positive, Section


class FleetConfig(Section):
    """Models that `edged fleet agent` takes from the NATS servers of section `nats`."""

    signers: tuple[Path, ...] = Field(
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
