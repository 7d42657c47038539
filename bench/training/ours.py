"""edged itself."""

import numpy as np

from bench.training.case import Case
from edged.engine.device import find_device
from edged.train.trainer import trainer_of


class Ours:
    """Takes steps on an OpenCL device; PoCL's threads come from the environment."""

    def __init__(self, case: Case, device: str) -> None:
        self._case, self._step = case, 0
        self._trainer = trainer_of(case.network, find_device(device), case.learning)
        self._trainer.load(case.images, case.labels, case.model_input)

    def __call__(self, steps: int) -> float:
        """The mean loss of so many more."""
        rates = np.full(steps, self._case.learning.rate / 10, np.float32)
        self._trainer.train(self._case.order(self._step, steps), rates)
        self._step += steps
        return self._trainer.figures().loss
