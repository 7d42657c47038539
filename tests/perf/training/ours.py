"""edged itself."""

import numpy as np

from edged.engine.device import find_device
from edged.train.config import Learning
from edged.train.optimizer import Adam, Optimizer, Sgd
from edged.train.trainer import Trainer
from tests.perf.training.case import Case


class Ours:
    """Takes steps on an OpenCL device; PoCL's threads come from the environment."""

    def __init__(self, case: Case, device: str) -> None:
        learning = case.learning
        self._case, self._step = case, 0
        self._trainer = Trainer(
            case.network,
            find_device(device),
            learning.batch,
            _optimizer(learning),
            smoothing=learning.smoothing,
            average=learning.average,
            flip=learning.augment.flip,
            shift=learning.augment.shift,
        )
        self._trainer.load(case.images, case.labels, case.wanted)

    def __call__(self, steps: int) -> float:
        """The mean loss of so many more."""
        rates = np.full(steps, self._case.learning.rate / 10, np.float32)
        self._trainer.train(self._case.order(self._step, steps), rates)
        self._step += steps
        return self._trainer.figures().loss


def _optimizer(learning: Learning) -> Optimizer:
    if learning.optimizer == "sgd":
        return Sgd(learning.momentum, learning.nesterov, learning.weight_decay)
    return Adam(weight_decay=learning.weight_decay, decoupled=learning.optimizer == "adamw")
