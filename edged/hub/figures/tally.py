"""What the status line and the summary are made from."""

from array import array
from collections import Counter
from statistics import median

from edged.hub.stream.prediction import is_right
from edged.messages import STAGES, EnergyMethod, Prediction

KEPT = 10_000  # predictions whose times the summary describes
RECENT = 300  # and the status line


class Times:
    """The newest times of one stage."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values = array("d")
        self._next = 0

    def add(self, seconds: float) -> None:
        """Take one in; the oldest goes where there are too many."""
        if len(self._values) < self._most:
            self._values.append(seconds)
        else:
            self._values[self._next] = seconds
            self._next = (self._next + 1) % self._most

    def median_and_p99(self) -> tuple[float, float] | None:
        """Median and 99th percentile (nearest rank), or None where nothing was timed."""
        if not self._values:
            return None
        values = sorted(self._values)
        return median(values), values[-(-99 * len(values) // 100) - 1]


class CameraTally:
    """One camera's newest predictions."""

    def __init__(self) -> None:
        self.label: tuple[str, float] | None = None
        self.last_frame = -1
        self.since_line = 0
        self.total = Times(RECENT)
        self.truth: Counter[bool] = Counter()


class Tally:
    """Sums over all predictions of a run."""

    def __init__(self, cameras: list[str]) -> None:
        self.cameras = {name: CameraTally() for name in cameras}
        self.predictions = 0
        self.stages = {stage: Times(KEPT) for stage in STAGES}
        self.joules = 0.0
        self.with_joules = 0
        self.method: EnergyMethod = "none"

    @property
    def joules_each(self) -> float | None:
        """Joules a prediction, of those whose energy is known; None where it is of none."""
        return self.joules / self.with_joules if self.with_joules else None

    def add_camera(self, name: str) -> None:
        """One more camera."""
        self.cameras.setdefault(name, CameraTally())

    def add(self, prediction: Prediction) -> None:
        """Take one in."""
        self.predictions += 1
        camera = self.cameras[prediction.camera]
        camera.last_frame = prediction.frame
        camera.since_line += 1
        camera.total.add(prediction.seconds.total)
        if prediction.top:
            camera.label = (prediction.top[0].label, prediction.top[0].score)
        right = is_right(prediction)
        if right is not None:
            camera.truth[right] += 1
        for stage, times in self.stages.items():
            times.add(getattr(prediction.seconds, stage))
        if prediction.energy.joules is not None:
            self.joules += prediction.energy.joules
            self.with_joules += 1
            self.method = prediction.energy.method


def share_right(truth: Counter[bool]) -> float | None:
    """Share of right answers, or None where no truth is known."""
    known = truth[True] + truth[False]
    return truth[True] / known if known else None
