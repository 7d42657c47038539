"""What is learnt: a network that edged brings along, and pictures that cost what real ones do."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edged.model.graph import Graph
from edged.model.package import Input
from edged.train.build import build
from edged.train.config import Learning, load_training

PICTURES = 4096
CLASSES = 10


@dataclass(frozen=True, eq=False)
class Case:
    """`images`: uint8 [n, height, width, channels]; `labels`: int32 [n]; `network` has its start's weights."""

    name: str
    network: Graph
    model_input: Input
    learning: Learning
    images: NDArray[np.uint8]
    labels: NDArray[np.int32]

    def order(self, first: int, steps: int) -> NDArray[np.int32]:
        """Of the steps from `first` on: indices of the pictures, [steps, batch]."""
        batch = self.learning.batch
        return (np.arange(first * batch, (first + steps) * batch, dtype=np.int32) % PICTURES).reshape(steps, batch)


def load_case(name: str) -> Case:
    """Of a named network or a YAML file. Noise in which a label is what a random matrix makes of it."""
    training, file = load_training(name)
    random = np.random.default_rng(0)
    assert training.input
    model_input = training.input.as_input()
    shape = (PICTURES, model_input.height, model_input.width, model_input.channels)
    images = random.integers(0, 256, shape, np.uint8)
    labels = (images.reshape(PICTURES, -1) @ random.standard_normal((images[0].size, CLASSES))).argmax(axis=1)
    network = build(training, CLASSES, 1, file)
    return Case(name, network, model_input, training.train, images, labels.astype(np.int32))
