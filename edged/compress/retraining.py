"""Prune and share the weights of a network while it is trained, so that the other weights make up for it.

After every few steps of the trainer the weights are moved to the nearest ones that are allowed: projected descent.
First pruned ones become 0, a larger share in each epoch as long as the accuracy recovers. Then shared ones become
the entries of their codebooks, which are the means of their weights. The kernels are those of every training.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import Any, Literal

import numpy as np

from edged.compress.codebook import Codebook, share
from edged.compress.constraint import Constraint, Pruned, Shared, State, projected
from edged.compress.pruning import kept
from edged.compress.weights import LEAST, Values
from edged.errors import ModelError, TrainingError
from edged.model.graph import Graph
from edged.model.package import Input
from edged.train.checkpoint import Checkpoint, Checkpoints
from edged.train.config import Learning
from edged.train.optimizer import rates
from edged.train.source import LabelledImages, TrainingSource
from edged.train.trainer import Trainer

MOST_PRUNED = 0.95  # of the weights, after the last epoch of pruning
FOR_PRUNING = 0.7  # of the accuracy that may be lost
PRUNING_EPOCHS = 2 / 3  # of all: the accuracy recovers sooner from shared weights than from pruned ones
ROUNDS = 8  # of pruning, each with a whole schedule of rates where there are epochs for it
TRIES = 2  # rounds with one share; if both lose too much, a smaller one is tried
ENTRIES = 16  # of each codebook
PROJECTIONS = 8  # in an epoch
SLOWER = 0.3  # the rate, as a share of the training's: the weights are already near
REMEDY = "give --training with a file whose rate is lower"

WEIGHT = ".weight"


@dataclass(frozen=True)
class RetrainedEpoch:
    """The results of an epoch. `pruned`: share of the weights; `accuracy`: on pictures not learnt from."""

    epoch: int
    step: Literal["pruned", "shared"]
    pruned: float
    loss: float
    accuracy: float


@dataclass(frozen=True)
class PruningProgress:
    """How far a retraining has come.

    `misses`: epochs with the present share that lost too much. `halvings`: of the steps between shares. `best`:
    accuracy of the best epoch with codebooks.
    """

    misses: int = 0
    halvings: int = 0
    best: float = -1.0


class Retraining:
    """Retrains `trainer` on `source` for `learning.epochs` epochs, and loses at most `max_loss` (0 to 1).

    facts: what the result depends on, by name; a checkpoint with others is ignored.
    Raises TrainingError, ModelError.
    """

    def __init__(
        self,
        trainer: Trainer,
        source: TrainingSource,
        model_input: Input,
        learning: Learning,
        max_loss: float,
        checkpoints: Checkpoints,
        facts: Mapping[str, str],
    ) -> None:
        self._trainer, self._source, self._model_input, self._max_loss = trainer, source, model_input, max_loss
        self._learning = learning
        self.epochs = learning.epochs or 1
        self._stages = stages(self.epochs)
        self._pruning_epochs = self._stages[-1].start
        self._per_epoch = source.steps(learning.batch)
        self._checkpoints, self._facts = checkpoints, dict(facts)
        self.history: list[RetrainedEpoch] = []
        self._progress = PruningProgress()
        self._loaded: LabelledImages | None = None
        self._names = [key for key, values in trainer.state().items() if _is_compressed(key, values)]
        if not self._names:
            raise ModelError(f"the network has no weights worth compressing: expected layers of {LEAST} or more")
        self._good: State = trainer.state()  # the smallest pruned network so far that keeps the accuracy
        self._best: State = {}  # the best one with codebooks
        self.original = self._original_accuracy()

    def resume(self, checkpoint: Checkpoint) -> bool:
        """Continue from a checkpoint; return False if it is of another retraining."""
        if checkpoint.facts["facts"] != self._facts:
            return False
        self.history = [RetrainedEpoch(**one) for one in checkpoint.facts["history"]]
        self._progress = PruningProgress(**checkpoint.facts["progress"])
        self._good, self._best = (_beginning(f"{part}.", checkpoint.arrays) for part in ("good", "best"))
        self._trainer.restore(_beginning("state.", checkpoint.arrays))
        return True

    def run(self, say: Callable[[RetrainedEpoch], None]) -> None:
        """Train to the end; `say` gets each epoch."""
        while len(self.history) < self.epochs:
            if len(self.history) < self._pruning_epochs:
                self._prune()
            else:
                self._share()
            self._save()
            say(self.history[-1])

    def pruned_network(self) -> Graph:
        """Return the network after pruning."""
        return self._network(self._good)

    def shared_network(self) -> tuple[Graph, dict[str, Codebook]]:
        """Return the network with shared weights, and its codebooks by weight."""
        state = self._best or self._good
        codebooks = {name: each.refitted(state[name]) for name, each in self._codebooks().items()}
        return self._network(state), codebooks

    def _prune(self) -> None:
        """Train for an epoch of a round with more pruned weights than the last good network has.

        A round that loses too much has further ones, `TRIES` in all; then half of the step is tried instead.
        """
        stage, share = self._stage(), self._next_share()
        accuracy = self._epoch("pruned", share, Pruned(kept(self._weights(self._trainer.state()), share)))
        progress = self._progress
        if len(self.history) < stage.stop:
            return
        if self.original - accuracy <= FOR_PRUNING * self._max_loss:
            self._good = self._trainer.state()
            self._progress = PruningProgress(0, progress.halvings)
        elif progress.misses + 1 < TRIES:
            self._progress = PruningProgress(progress.misses + 1, progress.halvings)
        else:
            self._trainer.restore(self._good)
            self._progress = PruningProgress(0, progress.halvings + 1)

    def _next_share(self) -> float:
        stage = self._stage()
        if self._progress.misses or len(self.history) > stage.start:
            return self.history[-1].pruned
        good = self._pruned_share(self._good)
        step = max(0.0, scheduled(stage.stop, self._pruning_epochs) - good)
        return float(good + step * 0.5**self._progress.halvings)

    def _stage(self) -> range:
        return next(stage for stage in self._stages if len(self.history) in stage)

    def _schedule(self) -> range:
        """Return the epochs in which the rate falls to 0: those of a stage where rounds have several, else all.

        An epoch at a high rate is less accurate than the original, whose rate had fallen; that ends the pruning.
        """
        return self._stage() if len(self._stages[0]) > 1 else range(self.epochs)

    def _share(self) -> None:
        """Train for an epoch with codebooks; the best epoch is kept."""
        if len(self.history) == self._pruning_epochs:
            self._trainer.restore(self._good)
        accuracy = self._epoch("shared", self._pruned_share(self._good), Shared(self._codebooks()))
        if accuracy > self._progress.best:
            self._progress, self._best = PruningProgress(best=accuracy), self._trainer.state()

    def _epoch(self, step: Literal["pruned", "shared"], share: float, constraint: Constraint) -> float:
        """Train for an epoch, and return the accuracy that the network has then."""
        self._project(constraint)
        schedule, loss, images = self._schedule(), 0.0, 0
        at, steps = (len(self.history) - schedule.start) * self._per_epoch, len(schedule) * self._per_epoch
        for chunk in self._source.chunks(len(self.history), self._learning.batch):
            self._load(chunk.examples)
            for order in np.array_split(chunk.order, min(PROJECTIONS, len(chunk.order))):
                self._trainer.train(order, rates(self._learning, at, len(order), steps))
                at += len(order)
                counted = self._trainer.figures()
                loss, images = loss + counted.loss * counted.images, images + counted.images
                if not isfinite(loss):
                    raise TrainingError(f"the loss is {counted.loss} in epoch {len(self.history) + 1}: {REMEDY}")
                self._project(constraint)
        accuracy = self._accuracy()
        self.history.append(RetrainedEpoch(len(self.history) + 1, step, share, loss / images, accuracy))
        return accuracy

    def _project(self, constraint: Constraint) -> None:
        self._trainer.restore(projected(self._trainer.state(), self._names, constraint))

    def _codebooks(self) -> dict[str, Codebook]:
        """Return the codebooks of the pruned network: which weights share a value does not change from there."""
        return {name: share(values, ENTRIES) for name, values in self._weights(self._good).items()}

    def _weights(self, state: State) -> dict[str, Values]:
        return {name: state[name] for name in self._names}

    def _pruned_share(self, state: State) -> float:
        weights = self._weights(state).values()
        return sum(int((each == 0).sum()) for each in weights) / sum(each.size for each in weights)

    def _network(self, state: State) -> Graph:
        self._trainer.restore(state)
        return self._trainer.graph()

    def _original_accuracy(self) -> float:
        """Return the accuracy to keep: that on held-out pictures, or on those of the test if it is lower there.

        The original may have learnt from the pictures that are held out now.
        """
        test = self._source.test
        return min(self._accuracy(), self._accuracy(test)) if test else self._accuracy()

    def _accuracy(self, examples: LabelledImages | None = None) -> float:
        """Return the accuracy on `examples`, by default on those that judge."""
        examples = examples or judging_examples(self._source)
        if self._loaded is None:
            self._load(examples)
        return self._trainer.evaluate(examples.images, examples.labels).accuracy

    def _load(self, examples: LabelledImages) -> None:
        if examples is not self._loaded:
            self._trainer.load(examples.images, examples.labels, self._model_input)
            self._loaded = examples

    def _save(self) -> None:
        parts = {"state": self._trainer.state(), "good": self._good, "best": self._best}
        arrays = {f"{part}.{name}": array for part, state in parts.items() for name, array in state.items()}
        history = [asdict(one) for one in self.history]
        facts = {"facts": self._facts, "history": history, "progress": asdict(self._progress)}
        self._checkpoints.save(len(self.history), facts, arrays)


def judging_examples(source: TrainingSource) -> LabelledImages:
    """Return pictures that are not learnt from: held out ones, else those of the test.

    Raises ModelError if there are none.
    """
    examples = source.validation or source.test
    if examples is None:
        raise ModelError(
            "there are no pictures to measure the accuracy with: hold some out (validation), or give test pictures"
        )
    return examples


def stages(epochs: int) -> tuple[range, ...]:
    """Return the epochs, from 0, of each round of pruning, and last those with codebooks."""
    pruning = ceil(PRUNING_EPOCHS * epochs)
    length = max(1, pruning // ROUNDS)
    starts = range(0, pruning - length + 1, length)
    return (*map(range, starts, [*starts[1:], pruning]), range(pruning, epochs))


def scheduled(step: int, steps: int) -> float:
    """Return the share of weights to prune at a step from 1 to `steps`: many at first, few at the end.

    Source: Zhu, Gupta, "To prune, or not to prune", 2017, equation 1 (https://arxiv.org/abs/1710.01878).
    """
    return MOST_PRUNED * (1 - (1 - step / steps) ** 3)


def slower(learning: Learning, epochs: int, validation: float) -> Learning:
    """Return the settings of a training for retraining its network: fewer and smaller steps, no moving average."""
    return learning.model_copy(
        update={
            "epochs": epochs,
            "steps": None,
            "stop_after": None,
            "rate": SLOWER * learning.rate,
            "schedule": "cosine",
            "warm_up": 0.0,
            "average": 0.0,
            "validation": validation,
        }
    )


def _is_compressed(key: str, values: Values) -> bool:
    return key.endswith(WEIGHT) and " of " not in key and values.size >= LEAST


def _beginning(prefix: str, arrays: Mapping[str, Any]) -> State:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
