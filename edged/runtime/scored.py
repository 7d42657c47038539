"""Score a stream of prepared pictures as the daemon does: the scores of each, or why there are none."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edged.model.scores import ScoreRule
from edged.runtime.base import ModelRuntime
from edged.runtime.jobs import Computed, Floats, Prepared, compute, not_finite


@dataclass(frozen=True, eq=False)
class PictureScores:
    """The scores of a picture, float32 [outputs]; None for a `problem`.

    `is_read`: False if the picture itself is the problem, not the network's outputs.
    """

    scores: Floats | None
    problem: str = ""
    is_read: bool = True


def scored(
    runtime: ModelRuntime, rule: ScoreRule, pictures: Iterable[Prepared], batch: int, ahead: int = 1
) -> Iterator[list[PictureScores]]:
    """Yield the scores of each job of `batch` pictures, in order. `ahead`: see `compute`. Raises DeviceError."""
    return ([scores_of(outputs, rule) for outputs in job] for job in compute(runtime, pictures, batch, ahead))


def scores_of(outputs: Computed, rule: ScoreRule) -> PictureScores:
    """Return the scores of one picture's outputs."""
    if isinstance(outputs, str):
        return PictureScores(None, outputs, is_read=False)
    if problem := not_finite(outputs):
        return PictureScores(None, problem)
    return PictureScores(rule.scores(outputs))
