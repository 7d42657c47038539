"""Figures of a model in use or in a trial, and of two models side by side."""

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

NO_JOULES = "energy is neither measured nor estimated on this node (no rails, no energy.watts_per_core)"


class ModelFigures(BaseModel):
    """What a model costs a frame. None: not measured."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    frames: int = Field(0, ge=0)
    p99_s: float | None = None
    joules: float | None = None
    not_finite: int = Field(0, ge=0)


class Comparison(BaseModel):
    """A model beside the one that answered before. `agreement`: share of frames with the same first label."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    agreement: float | None = None
    before: ModelFigures
    after: ModelFigures
    joules_note: str = NO_JOULES


def figures_of(seconds: Sequence[float], joules: Sequence[float | None], not_finite: int = 0) -> ModelFigures:
    """Summarize frames: seconds of the forward pass and joules of each; all joules are known, or none counts."""
    known = [each for each in joules if each is not None]
    whole = known and len(known) == len(joules)
    return ModelFigures(
        frames=len(seconds),
        p99_s=percentile(seconds, 0.99) if seconds else None,
        joules=math.fsum(known) / len(known) if whole else None,
        not_finite=not_finite,
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
