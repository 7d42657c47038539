"""Choose how a plan is launched, layer by layer or in one launch, by the times of jobs that follow one another.

Which one is faster depends on the network, and on what else runs: where other programs take a core, a group that
waits for another takes time from it. Only neighbours are compared, since a machine may become slower as a whole.
"""

from collections import defaultdict, deque
from enum import Enum
from statistics import median

COMPARED = 3  # the latest comparisons, whose median decides
TRIED_EVERY = 32  # jobs: then one is launched in the other form
CLEARLY = 0.97  # of the time of the present form: less than that is faster


class LaunchForm(Enum):
    """How the kernels of a job are launched."""

    BY_LAYER = "by layer"
    ONE_LAUNCH = "one launch"

    @property
    def other(self) -> "LaunchForm":
        """Return the other form."""
        return LaunchForm.ONE_LAUNCH if self is LaunchForm.BY_LAYER else LaunchForm.BY_LAYER


class _Rivals:
    """The two forms for jobs of one size."""

    def __init__(self) -> None:
        self.present = LaunchForm.BY_LAYER
        self._jobs = 0
        self._seconds: float | None = None  # of the latest job in the present form
        self._ratios: deque[float] = deque(maxlen=COMPARED)

    def next(self) -> LaunchForm:
        self._jobs += 1
        every = TRIED_EVERY if len(self._ratios) == COMPARED else 2
        return self.present.other if self._jobs % every == 0 else self.present

    def add(self, form: LaunchForm, seconds: float) -> None:
        if form is self.present:
            self._seconds = seconds
        elif self._seconds:
            self._ratios.append(seconds / self._seconds)
            if len(self._ratios) == COMPARED and median(self._ratios) < CLEARLY:
                self.present, self._seconds = form, None
                self._ratios.clear()


class FormChoice:
    """Chooses the form of each job; jobs of different numbers of frames have nothing to do with one another."""

    def __init__(self) -> None:
        self._rivals: dict[int, _Rivals] = defaultdict(_Rivals)

    def next(self, frames: int) -> LaunchForm:
        """Return the form of the next job: the faster one, at times the other."""
        return self._rivals[frames].next()

    def add(self, form: LaunchForm, frames: int, seconds: float) -> None:
        """Compare the seconds that a job took on the device with those of its neighbour in the other form."""
        self._rivals[frames].add(form, seconds)
