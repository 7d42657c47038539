"""Choose how a plan is launched, layer by layer or in one launch, by the times of the latest jobs.

Which one is faster depends on the network, and on what else runs: where other programs take a core, a group that
waits for another takes time from it.
"""

from collections import defaultdict, deque
from enum import Enum
from statistics import median

KEPT = 5  # the latest jobs of each form, which decide
TRIED_EVERY = 64  # jobs: then one is launched in the other form


class LaunchForm(Enum):
    """How the kernels of a job are launched."""

    BY_LAYER = "by layer"
    ONE_LAUNCH = "one launch"


class FormChoice:
    """Remembers the seconds of jobs by their form and number of frames."""

    def __init__(self) -> None:
        self._seconds: dict[tuple[LaunchForm, int], deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))
        self._jobs = 0

    def next(self, frames: int) -> LaunchForm:
        """Choose for the next job: the faster form, at times the other; both in turn while one is unknown."""
        self._jobs += 1
        measured = {form: self._seconds[form, frames] for form in LaunchForm}
        if any(len(seconds) < KEPT for seconds in measured.values()):
            return min(LaunchForm, key=lambda form: len(measured[form]))
        fastest, *others = sorted(LaunchForm, key=lambda form: median(measured[form]))
        return others[0] if self._jobs % TRIED_EVERY == 0 else fastest

    def add(self, form: LaunchForm, frames: int, seconds: float) -> None:
        """Remember the seconds that a job took on the device."""
        self._seconds[form, frames].append(seconds)
