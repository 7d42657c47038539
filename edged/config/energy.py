"""`energy`: which power supplies to read, and how."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from edged.config.section import Positive, Section, Text


class Energy(Section):
    """Which power supplies to read, and how; what is not measured is estimated where this says how, else none."""

    rails: Literal["auto", "none"] | tuple[Text, ...] = Field(
        "auto", description="auto: all that are found; none; or names that `edged devices` lists"
    )
    sample_hz: float = Field(
        10.0,
        ge=1,
        le=1000,
        description="How often the power of a rail that has no counter of energy is read, to add it up; where "
        "five readings are missing, and half a second is, its joules are not known",
    )
    idle_s: float = Field(
        0.0,
        ge=0,
        le=600,
        description="How long each worker waits at its first start since the machine's, to measure what its rails "
        "draw anyway: `edged_idle_watts`, which is taken off the joules of predictions; 0: nothing is",
    )
    watts_per_core: Positive | None = Field(
        None,
        description="Where no rail can be read: joules are the worker's processor time times this, and are marked "
        "`estimated`",
    )
    sysfs: Path = Field(Path("/sys"), description="Where a container has its host's /sys, if elsewhere")
