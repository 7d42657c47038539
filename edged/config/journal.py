"""`journal`: what was published, on disk."""

from pathlib import Path

from pydantic import Field

from edged.config.section import Positive, Section


class Journal(Section):
    """What was published, kept for subscribers that missed it."""

    path: Path | None = Field(None, description="SQLite file; default: the state directory, by node name")
    max_predictions: int = Field(100_000, ge=1_000, description="The oldest go first")
    max_megabytes: int = Field(256, ge=8, le=1_000_000, description="That its files may take; the oldest go first")
    max_age_days: Positive = Field(
        30.0, description="What is older goes, in days for which the machine has run since: a wall clock may jump"
    )
    max_wait_s: float = Field(
        0.1,
        ge=0.001,
        le=10,
        description="How long a prediction may wait for the disk; then it is published with "
        "`journaled: false`; less than `freshness.max_age_s`, of which at most four fifths are waited for",
    )
    sync_s: float = Field(
        5.0, ge=0.1, le=3600, description="What a power failure may lose of the journal, in seconds"
    )
