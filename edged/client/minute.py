"""One camera's predictions of the last minute, second by second. Time is any clock that runs on, in seconds."""

from collections import Counter, deque
from dataclasses import dataclass, field
from statistics import median

from edged.messages import Prediction

STRIP_S = 60
RECENT_S = 10


@dataclass(slots=True)
class Second:
    """What came within one second."""

    number: int
    labels: Counter[str] = field(default_factory=Counter)
    totals_s: list[float] = field(default_factory=list)
    joules: list[float] = field(default_factory=list)
    truth: Counter[bool] = field(default_factory=Counter)


class Minute:
    """Older ones are forgotten."""

    def __init__(self) -> None:
        self._seconds: deque[Second] = deque(maxlen=STRIP_S)
        self._begun_s: float | None = None

    def add(self, prediction: Prediction, now_s: float) -> None:
        """One has come."""
        if self._begun_s is None:
            self._begun_s = now_s
        second = self._second(int(now_s))
        second.totals_s.append(prediction.seconds.total)
        if prediction.top:
            second.labels[prediction.top[0].label] += 1
        if prediction.energy.joules is not None:
            second.joules.append(prediction.energy.joules)
        if prediction.top and prediction.truth is not None and not prediction.model.random_weights:
            second.truth[prediction.top[0].label == prediction.truth] += 1

    def fps(self, now_s: float) -> float:
        """Predictions a second, of the last `RECENT_S`."""
        if self._begun_s is None:
            return 0.0
        begun_s = max(self._begun_s, float(int(now_s) - RECENT_S))
        return sum(len(second.totals_s) for second in self._recent(now_s)) / max(1.0, now_s - begun_s)

    def median_and_p99_s(self, now_s: float) -> tuple[float, float] | None:
        """Of the time from capture to publication; None where nothing came in the last `RECENT_S`."""
        totals = sorted(total for second in self._recent(now_s) for total in second.totals_s)
        return (median(totals), totals[-(-99 * len(totals) // 100) - 1]) if totals else None

    def joules_each(self, now_s: float) -> float | None:
        """Joules a prediction, of those of the last `RECENT_S` whose energy is known."""
        joules = [each for second in self._recent(now_s) for each in second.joules]
        return sum(joules) / len(joules) if joules else None

    def share_right(self, now_s: float) -> float | None:
        """Share of right answers in the last minute, where the truth is known."""
        truth: Counter[bool] = Counter()
        for second in self._since(int(now_s) - STRIP_S):
            truth.update(second.truth)
        return truth[True] / truth.total() if truth else None

    def strip(self, now_s: float) -> tuple[str | None, ...]:
        """The most frequent label of each of the last 60 seconds, the oldest first; None where there was none."""
        newest = int(now_s)
        labels = {second.number: second.labels for second in self._seconds}
        numbers = range(newest - STRIP_S + 1, newest + 1)
        return tuple(_most_frequent(labels.get(number)) for number in numbers)

    def _second(self, number: int) -> Second:
        if not self._seconds or self._seconds[-1].number < number:
            self._seconds.append(Second(number))
        return self._seconds[-1]

    def _recent(self, now_s: float) -> list[Second]:
        return self._since(int(now_s) - RECENT_S)

    def _since(self, number: int) -> list[Second]:
        return [second for second in self._seconds if second.number >= number]


def _most_frequent(labels: Counter[str] | None) -> str | None:
    return labels.most_common(1)[0][0] if labels else None
