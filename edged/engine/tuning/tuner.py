"""Tune one shape after another until all are done or the time is up."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from edged.engine.selection import Choice, Chooser, candidates, source_digest
from edged.engine.shape import Shape, shape_of
from edged.engine.tuning.attempt_log import AttemptLog
from edged.engine.tuning.contest import Contest
from edged.engine.tuning.rig import Rig
from edged.engine.tuning.task import TuningTask, problem_of
from edged.engine.tuning_records import BestVariant, RefusedVariant, TunedShape, is_refused
from edged.engine.variants.variant import Site
from edged.system.machine_state import UNWATCHED, Machine

PATIENCE = 12  # candidates of a variant in a row without improvement: its best guesses come first
FAULTS = 3  # refused candidates of a variant for one shape, after which no more are tried there


@dataclass(frozen=True)
class TuningProgress:
    """The state of the tuner. Seconds are per frame; `refused`: what the last step rejected."""

    shapes_done: int
    shapes: int
    done_s: float
    frame_s: float
    gained_s: float
    shape: Shape
    choice: Choice | None = None
    refused: RefusedVariant | None = None


class Tuner:
    """Finds the best candidate of each of `works`; `time_expired` is checked before each attempt."""

    def __init__(
        self,
        rig: Rig,
        attempts: AttemptLog,
        rules: Chooser,
        works: Sequence[TuningTask],
        time_expired: Callable[[], bool],
        machine: Machine = UNWATCHED,
    ) -> None:
        self._rig, self._log, self._rules = rig, attempts, rules
        self._works, self._time_is_up = works, time_expired
        self._machine = machine
        self._all = {work: source_digest(work.site, *candidates(work.site)) for work in works}

    @property
    def is_done(self) -> bool:
        """Return whether all shapes have been tuned."""
        return all(map(self._is_done, self._works))

    def tune(self) -> Iterator[TuningProgress]:
        """Yield after each attempt, and after each shape. Raises DeviceError if the device has failed."""
        for work in self._works:
            if self._is_done(work):
                continue
            if self._time_is_up():
                return
            for choice, refused in self._tune(work):
                yield self._progress(work, choice, refused)
            yield self._progress(work)

    def _tune(self, work: TuningTask) -> Iterator[tuple[Choice, RefusedVariant | None]]:
        """Try all candidates, then record the best."""
        site = work.site
        untuned = self._rules.choose(site)
        contest = Contest(self._rig, problem_of(site), untuned, self._machine)
        for choice in self._worth_trying(site, untuned, contest):
            with self._log.trying(site, choice):
                refusal = contest.join(choice)
            if refusal:
                self._log.refuse(site, refusal)
            yield choice, refusal
        self._write(work, contest)

    def _worth_trying(self, site: Site[Any], untuned: Choice, contest: Contest) -> Iterator[Choice]:
        """Yield the untuned choice, then each variant's candidates until they stop improving or are refused."""
        if not self._is_refused(site, untuned):
            yield untuned
        vain: Counter[str] = Counter()
        for choice in candidates(site):
            name = choice.variant.name
            if choice == untuned or vain[name] >= PATIENCE or self._is_refused(site, choice):
                continue
            if self._count_refused(site, name) >= FAULTS:
                continue
            if self._time_is_up():
                return
            yield choice
            vain[name] = 0 if contest.leader == choice else vain[name] + 1

    def _write(self, work: TuningTask, contest: Contest) -> None:
        """Record the best so far; a shape whose time ran out is tried again next time."""
        entries = contest.final()
        found: dict[str, Any] = {"tried": "" if self._time_is_up() else self._all[work]}
        if entries:
            choice = entries[0].trial.choice
            found["best"] = BestVariant(
                variant=choice.variant.name, parameters=choice.parameters, seconds=entries[0].seconds
            )
            found["rules_seconds"] = next((e.seconds for e in entries if contest.is_untuned(e)), None)
        self._log.write(self._log.attempts_for(work.site).model_copy(update=found))

    def _is_refused(self, site: Site[Any], choice: Choice) -> bool:
        return is_refused(site, choice, self._log.attempts_for(site))

    def _count_refused(self, site: Site[Any], variant: str) -> int:
        """Count the candidates of `variant` that must not be used here."""
        named = {refusal.variant for refusal in self._log.attempts_for(site).refused}
        if variant not in named:
            return 0
        return sum(self._is_refused(site, choice) for choice in candidates(site) if choice.variant.name == variant)

    def _is_done(self, work: TuningTask) -> bool:
        return self._log.attempts_for(work.site).tried == self._all[work]

    def _progress(
        self, now: TuningTask, choice: Choice | None = None, refused: RefusedVariant | None = None
    ) -> TuningProgress:
        done = [work for work in self._works if self._is_done(work)]
        return TuningProgress(
            shapes_done=len(done),
            shapes=len(self._works),
            done_s=sum(work.frame_s for work in done),
            frame_s=sum(work.frame_s for work in self._works),
            gained_s=sum(work.frame_s * _gain(self._log.attempts_for(work.site)) for work in self._works),
            shape=shape_of(now.site),
            choice=choice,
            refused=refused,
        )


def _gain(tuned: TunedShape) -> float:
    """Return the share of the untuned time that the best candidate saves."""
    if tuned.best is None or tuned.rules_seconds is None:
        return 0.0
    return 1 - tuned.best.seconds / tuned.rules_seconds
