"""A training from its start, or from a checkpoint, to its end: epochs, validation, an early stop."""

import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.errors import DataError, TrainingError
from edged.model.package import Input
from edged.train.checkpoint import Arrays, Checkpoint, Checkpoints
from edged.train.config import Learning
from edged.train.optimizer import rates
from edged.train.results import Epoch, Evaluation, TrainingProgress
from edged.train.source import LabelledImages, TrainingSource
from edged.train.trainer import Trainer

DEFAULT_EPOCHS = 10
OPERATIONS_OF_A_LOG = 2e10  # steps between two reports: about half a second on a CPU
STATE, BEST = "state.", "best."


class TrainingSession:
    """Trains `trainer` on `source` by the settings `learning`; `macs`: of one picture, forward.

    facts: what the training depends on, by name: a checkpoint with others is refused.
    """

    def __init__(
        self,
        trainer: Trainer,
        source: TrainingSource,
        model_input: Input,
        learning: Learning,
        macs: int,
        checkpoints: Checkpoints,
        facts: Mapping[str, str],
    ) -> None:
        self._trainer, self._source, self._learning, self._batch = trainer, source, learning, learning.batch
        self._model_input = model_input
        self._checkpoints, self._facts = checkpoints, dict(facts)
        per_epoch = source.steps(learning.batch)
        self.steps = learning.steps or per_epoch * (learning.epochs or DEFAULT_EPOCHS)
        self.epochs = ceil_div(self.steps, per_epoch)
        self._per_epoch = per_epoch
        self._per_log = min(max(1, round(OPERATIONS_OF_A_LOG / max(1, 6 * macs * learning.batch))), 100)
        self.history: list[Epoch] = []
        self._best: Epoch | None = None
        self._best_state: Arrays = {}
        self._loaded: LabelledImages | None = None

    @property
    def best(self) -> Epoch | None:
        """Return the epoch whose weights are kept; None for those of the last one."""
        return self._best if self._learning.stop_after else None

    @property
    def is_done(self) -> bool:
        """Return whether all steps were taken, or it stopped early."""
        if len(self.history) >= self.epochs:
            return True
        patience = self._learning.stop_after
        return bool(patience and self._best and len(self.history) - self._best.epoch >= patience)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint.

        Raises DataError, which names the difference, if it is of another training.
        """
        there = checkpoint.facts["facts"]
        names = sorted({*there, *self._facts})
        differing = [name for name in names if there.get(name) != self._facts.get(name)]
        if differing:
            lines = [f"  {name}: {there.get(name)} there, {self._facts.get(name)} now" for name in differing]
            raise DataError("\n".join([f"{checkpoint.path} is of another training:", *lines]))
        self.history = [Epoch(**one) for one in checkpoint.facts["history"]]
        best = checkpoint.facts["best"]
        self._best = Epoch(**best) if best else None
        self._best_state = _beginning(BEST, checkpoint.arrays)
        self._trainer.restore(_beginning(STATE, checkpoint.arrays))

    def train(self) -> Iterator[TrainingProgress | Epoch]:
        """Train to the end.

        Raises TrainingError for a loss that is not finite, or a checkpoint that cannot be written.
        """
        while not self.is_done:
            yield from self._epoch(len(self.history))
            self._keep_best()
            yield self.history[-1]
        if self._best_state:
            self._trainer.restore(self._best_state)

    def evaluate(self, examples: LabelledImages) -> Evaluation:
        """Evaluate the present network on these images."""
        if self._loaded is None:
            self._load(examples)
        return self._trainer.evaluate(examples.images, examples.labels)

    def _epoch(self, epoch: int) -> Iterator[TrainingProgress]:
        step = epoch * self._per_epoch
        loss = right = images = 0.0
        for chunk in self._source.chunks(epoch, self._batch):
            if chunk.examples is not self._loaded:
                self._load(chunk.examples)
            for first in range(0, min(len(chunk.order), self.steps - step), self._per_log):
                order = chunk.order[first : first + self._per_log][: self.steps - step]
                began = time.monotonic()
                self._trainer.train(order, rates(self._learning, step, len(order), self.steps))
                counted = self._trainer.figures()
                step += len(order)
                self._check(counted.loss, step)
                loss, right = loss + counted.loss * counted.images, right + counted.accuracy * counted.images
                images += counted.images
                speed = counted.images / max(time.monotonic() - began, 1e-9)
                left = (self.steps - step) * self._batch / speed
                yield TrainingProgress(
                    epoch + 1, self.epochs, step, self.steps, loss / images, right / images, speed, left
                )
        self._conclude(epoch + 1, step, loss / images, right / images)

    def _load(self, examples: LabelledImages) -> None:
        self._trainer.load(examples.images, examples.labels, self._model_input)
        self._loaded = examples

    def _check(self, loss: float, step: int) -> None:
        if not math.isfinite(loss):
            raise _diverged(f"the loss is {loss}", step)

    def _conclude(self, epoch: int, step: int, loss: float, accuracy: float) -> None:
        held_out = self._source.validation
        found = self.evaluate(held_out) if held_out else None
        if found:
            self._check(found.loss, step)
        rate = float(rates(self._learning, step - 1, 1, self.steps)[0])
        validation = (found.loss, found.accuracy) if found else (None, None)
        line = Epoch(epoch, step, rate, loss, accuracy, *validation)
        self.history.append(line)
        if self._learning.stop_after and line.is_better_than(self._best):
            self._best, self._best_state = line, dict(self._trainer.state())

    def _keep_best(self) -> None:
        facts = {
            "facts": self._facts,
            "history": [one.as_facts() for one in self.history],
            "best": self._best and self._best.as_facts(),
        }
        state = self._trainer.state()
        if not all(np.isfinite(array).all() for array in state.values()):  # the last step may have diverged
            raise _diverged("weights are no longer finite", self.history[-1].step)
        arrays = {STATE + name: array for name, array in state.items()}
        arrays |= {BEST + name: array for name, array in self._best_state.items()}
        self._checkpoints.save(len(self.history), facts, arrays)


def _diverged(what: str, step: int) -> TrainingError:
    return TrainingError(
        f"{what} at step {step}: the weights have grown beyond all bounds; "
        "try a lower rate, a warm_up, or input mean and std that bring pixels near -1 to 1"
    )


def _beginning(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
