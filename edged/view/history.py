"""The last hour of each camera, a minute each: how many predictions, of which label, after which time."""

from collections import Counter
from dataclasses import dataclass, field
from statistics import median

from edged.messages import Prediction

MINUTE_S = 60
MINUTES = 60
HOUR_S = MINUTES * MINUTE_S


@dataclass(slots=True)
class Minute:
    """The predictions of one minute. `number`: minutes since 1970 of the node's clock."""

    number: int
    labels: Counter[str] = field(default_factory=Counter)
    totals_s: list[float] = field(default_factory=list)
    median_s: float = 0.0

    def add(self, prediction: Prediction) -> None:
        """Count a prediction."""
        self.labels[prediction.top[0].label if prediction.top else ""] += 1
        self.totals_s.append(prediction.seconds.total)

    def close(self) -> None:
        """Keep only the median of the times."""
        if self.totals_s:
            self.median_s, self.totals_s = median(self.totals_s), []


@dataclass(frozen=True, slots=True)
class PastMinute:
    """A minute that is over.

    `label`: the most frequent one, of `share` of the predictions. `median_s`: from capture to publication.
    """

    number: int
    predictions: int
    label: str
    share: float
    median_s: float


class History:
    """The minutes of each camera. Predictions of one camera come in the order of their publication."""

    def __init__(self) -> None:
        self._minutes: dict[str, list[Minute]] = {}

    def add(self, prediction: Prediction) -> None:
        """Count a prediction; older minutes than an hour before it are dropped."""
        number = int(prediction.published_at // MINUTE_S)
        minutes = self._minutes.setdefault(prediction.camera, [])
        if not minutes or minutes[-1].number != number:
            if minutes:
                minutes[-1].close()
            minutes.append(Minute(number))
            # a clock that was set back would bring minutes that come a second time
            minutes[:] = [each for each in minutes if number - MINUTES <= each.number <= number]
        minutes[-1].add(prediction)

    def past(self, camera: str, at: float) -> list[PastMinute]:
        """Return the minutes of the last hour that are over at `at`, seconds since 1970, oldest first."""
        now = int(at // MINUTE_S)
        minutes = self._minutes.get(camera, [])
        return [_past(each) for each in minutes if now - MINUTES <= each.number < now]


def _past(minute: Minute) -> PastMinute:
    minute.close()
    (label, count), total = minute.labels.most_common(1)[0], minute.labels.total()
    return PastMinute(minute.number, total, label, count / total, minute.median_s)
