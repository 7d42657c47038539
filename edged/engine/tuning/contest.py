"""Which candidate solves a problem fastest. Those that are hopeless are sent away early, the best few meet again.

After "successive halving" (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification", 2016).
"""

import statistics
from dataclasses import dataclass

from edged.engine.candidates import source_digest
from edged.engine.choice import Choice
from edged.engine.opencl import in_one_line
from edged.engine.record import Reason, Refusal
from edged.engine.tuning.problem import Problem
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.trial import Trial
from edged.errors import DeviceError

HOPELESS = 1.5  # times the best so far: it does not run a second time
IMPRESSION = 3  # runs by which the best few are found
FINALISTS = 4
ROUNDS = 15  # of the final: each runs once a round, so that whatever else the machine does meets all alike
GAIN = 0.98  # of the untuned choice's time: less would be noise


@dataclass(frozen=True)
class Entry:
    """A candidate that was right, with its seconds."""

    trial: Trial
    seconds: float


class Contest:
    """Candidates join one at a time. `untuned`, what the rules choose, meets the best few at the end."""

    def __init__(self, rig: Rig, problem: Problem, untuned: Choice) -> None:
        self._rig, self._problem, self._untuned = rig, problem, untuned
        self._entries: list[Entry] = []

    @property
    def best_s(self) -> float:
        """Seconds of the best so far; infinite before the first."""
        return min((entry.seconds for entry in self._entries), default=float("inf"))

    def join(self, choice: Choice) -> Refusal | None:
        """Compare `choice` with the reference, then time it. Why it must not be used, if so.

        Raises DeviceError if the device does not work any more.
        """
        try:
            trial = Trial(self._rig, self._problem, choice)
            error = trial.error()
            if error > self._problem.tolerance:
                return self._refusal(choice, "wrong", f"error {error:.1e} of the range")
            entry = Entry(trial, self._impression(trial))
        except DeviceError as failure:
            self._rig.sweep()
            self._rig.finish()
            return self._refusal(choice, "failed", in_one_line(failure.__cause__ or failure))
        self._keep(entry)
        return None

    def final(self) -> list[Entry]:
        """The best few with the medians of new runs, best first; the untuned choice where nothing beats it."""
        seconds = [[entry.trial.seconds() for entry in self._entries] for _ in range(ROUNDS)]
        medians = map(statistics.median, zip(*seconds, strict=True))
        entries = [Entry(entry.trial, median) for entry, median in zip(self._entries, medians, strict=True)]
        return sorted(entries, key=lambda entry: entry.seconds * (GAIN if self.is_untuned(entry) else 1))

    def is_untuned(self, entry: Entry) -> bool:
        """Whether it is what the rules choose."""
        return entry.trial.choice == self._untuned

    def _impression(self, trial: Trial) -> float:
        first = trial.seconds()
        if first > HOPELESS * self.best_s:
            return first
        return statistics.median([first, *(trial.seconds() for _ in range(IMPRESSION - 1))])

    def _keep(self, entry: Entry) -> None:
        """The fastest few, and the untuned choice."""
        entries = sorted([*self._entries, entry], key=lambda entry: entry.seconds)
        self._entries = [e for i, e in enumerate(entries) if i < FINALISTS - 1 or self.is_untuned(e)]

    def _refusal(self, choice: Choice, reason: Reason, detail: str) -> Refusal:
        return Refusal(
            variant=choice.variant.name,
            parameters=choice.parameters,
            reason=reason,
            detail=detail,
            source=source_digest(self._problem.site, choice),
        )
