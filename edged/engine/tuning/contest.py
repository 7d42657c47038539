"""Find the fastest correct candidate for a problem: slow ones are dropped early, the best are measured again.

Only times of one state of the machine are compared: after a change of state the best few are measured once more.

After "successive halving" (Jamieson and Talwalkar, "Non-stochastic Best Arm Identification", 2016).
"""

import statistics
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from edged.engine.agreement import ReferenceProblem
from edged.engine.executable import HOST_VISIBLE
from edged.engine.layout import Elements, Halo, from_memory, to_memory
from edged.engine.opencl import cl, device_errors, in_one_line
from edged.engine.selection import Choice, source_digest
from edged.engine.tuning.rig import Rig
from edged.engine.tuning_records import Reason, RefusedVariant
from edged.errors import DeviceError
from edged.system.machine_state import UNWATCHED, Account, Machine, in_one_state

NEXT_READS = Halo(1, 1, 1, 1)  # the halo that most readers of an output need

HOPELESS = 1.5  # times the best so far: such a candidate does not run again
IMPRESSION = 3  # runs to select the best few
FINALISTS = 4
ROUNDS = 15  # runs of the final: each once per round, so that other load affects all alike
GAIN = 0.98  # of the untuned choice's time: less would be noise


class Trial:
    """`choice` built for `problem` on `rig`. Raises DeviceError if the driver refuses it."""

    def __init__(self, rig: Rig, problem: ReferenceProblem, choice: Choice) -> None:
        self.choice = choice
        self._rig, self._problem = rig, problem
        site = problem.site
        reach = choice.variant.reach(site, choice.parameters)
        first, *others = (replace(tensor, name=f"input {i}") for i, tensor in enumerate(site.inputs))
        sources = (replace(first, halo=reach), *others)
        self._output = replace(site.output, halo=NEXT_READS)
        launches = choice.variant.launches(replace(site, inputs=sources, output=self._output), choice.parameters)
        self._tensors = {tensor for launch in launches for tensor in launch.tensors}
        self._executable = rig.executable(launches)
        self._inputs = [
            (self._executable.memory_of(tensor), self._upload(to_memory(tensor, x)))
            for tensor, x in zip(sources, problem.inputs, strict=True)
        ]

    def error(self) -> float:
        """Return the error as a share of the range. Memory is filled with NaN before. Raises DeviceError."""
        with self._errors():
            ones = np.full(1, 255, np.uint8)  # NaN; of steps, numbers that no kernel writes
            for tensor in self._tensors:
                buffer = self._executable.memory_of(tensor)
                cl.enqueue_fill_buffer(self._rig.queue, buffer, ones, 0, tensor.nbytes)
            self._write_inputs()
            self._run()
            memory = np.empty(self._output.nbytes // self._output.dtype.itemsize, self._output.dtype)
            cl.enqueue_copy(self._rig.queue, memory, self._executable.memory_of(self._output))
        return self._problem.error(from_memory(self._output, memory))

    def seconds(self) -> float:
        """Return the time from the start of its first kernel to the end of its last. Raises DeviceError.

        As in a whole network: other data has passed through the caches, then the inputs were written.
        """
        with self._errors():
            self._rig.sweep()
            self._write_inputs()
            events = self._run()
            events[-1].wait()
            return float(events[-1].profile.end - events[0].profile.start) * 1e-9

    def _run(self) -> list[Any]:
        return self._rig.run(self._executable, self._output.frames)

    def _write_inputs(self) -> None:
        for memory, pristine in self._inputs:
            cl.enqueue_copy(self._rig.queue, memory, pristine)

    def _upload(self, memory: Elements) -> Any:
        flags = cl.mem_flags.READ_ONLY | HOST_VISIBLE | cl.mem_flags.COPY_HOST_PTR
        with self._errors():
            return cl.Buffer(self._rig.context, flags, hostbuf=memory)

    def _errors(self) -> Any:
        return device_errors(self._rig.device.name, f"trying {self.choice.variant.name}")


@dataclass(frozen=True)
class Contestant:
    """A candidate that was right, with its seconds."""

    trial: Trial
    seconds: float


class Contest:
    """Candidates join one at a time. `untuned`, the choice of the rules, competes with the best few at the end."""

    def __init__(self, rig: Rig, problem: ReferenceProblem, untuned: Choice, machine: Machine = UNWATCHED) -> None:
        self._rig, self._problem, self._untuned, self._machine = rig, problem, untuned, machine
        self._entries: list[Contestant] = []
        self._state: str | None = None  # of the machine, when the entries were measured
        self.rounds: list[str] = []  # the states of the machine in the final

    @property
    def leader(self) -> Choice | None:
        """Return the best so far; None before the first."""
        return min(self._entries, key=lambda entry: entry.seconds).trial.choice if self._entries else None

    def join(self, choice: Choice) -> RefusedVariant | None:
        """Compare `choice` with the reference, then time it. Returns why it must not be used, if so.

        Raises DeviceError if the device has failed.
        """
        try:
            trial = Trial(self._rig, self._problem, choice)
            error = trial.error()
            if error > self._problem.tolerance:
                return self._refusal(choice, "wrong", f"error {error:.1e} of the range")
            entry = self._first_estimate(trial)
        except DeviceError as failure:
            self._rig.sweep()
            self._rig.finish()
            return self._refusal(choice, "failed", in_one_line(failure.__cause__ or failure))
        # the fastest few stay, and the untuned choice
        entries = sorted([*self._entries, entry], key=lambda entry: entry.seconds)
        self._entries = [e for i, e in enumerate(entries) if i < FINALISTS - 1 or self.is_untuned(e)]
        return None

    def final(self) -> list[Contestant]:
        """Return the best few with the medians of new runs, best first; the untuned choice if none is faster.

        Rounds that were disturbed, or in another state than most, are repeated, each not more than once.
        """
        rounds: list[list[float]] = []
        self.rounds = []
        while (
            self._entries and len(rounds) < 2 * ROUNDS and max(Counter(self.rounds).values(), default=0) < ROUNDS
        ):
            seconds, turn = self._machine.during(lambda: [entry.trial.seconds() for entry in self._entries])
            rounds.append(seconds)
            self.rounds.append(turn.state)
        account = Account.of(self.rounds)
        counted = [seconds for seconds, state in zip(rounds, self.rounds, strict=True) if account.counts(state)]
        medians = map(statistics.median, zip(*counted, strict=True))
        entries = [Contestant(entry.trial, median) for entry, median in zip(self._entries, medians, strict=True)]
        return sorted(entries, key=lambda entry: entry.seconds * (GAIN if self.is_untuned(entry) else 1))

    def is_untuned(self, entry: Contestant) -> bool:
        """Return whether it is the choice of the rules."""
        return entry.trial.choice == self._untuned

    def _first_estimate(self, trial: Trial) -> Contestant:
        """Time a new candidate; the best few, too, if the state of the machine is another one than for them."""
        best_s = min((entry.seconds for entry in self._entries), default=float("inf"))
        seconds, turns = in_one_state(self._machine, lambda: _impression(trial, HOPELESS * best_s), self._state)
        if self._entries and self._state != turns[-1].state:
            each = [*(entry.trial for entry in self._entries), trial]
            again, turns = in_one_state(self._machine, lambda: [_impression(one) for one in each])
            *before, seconds = again
            self._entries = [replace(e, seconds=s) for e, s in zip(self._entries, before, strict=True)]
        self._state = turns[-1].state
        return Contestant(trial, seconds)

    def _refusal(self, choice: Choice, reason: Reason, detail: str) -> RefusedVariant:
        return RefusedVariant(
            variant=choice.variant.name,
            parameters=choice.parameters,
            reason=reason,
            detail=detail,
            source=source_digest(self._problem.site, choice),
        )


def _impression(trial: Trial, hopeless_s: float = float("inf")) -> float:
    """Return the median of a few runs; the first one if it takes longer than `hopeless_s`."""
    first = trial.seconds()
    if first > hopeless_s:
        return first
    return statistics.median([first, *(trial.seconds() for _ in range(IMPRESSION - 1))])
