"""The trainer that the file of a training asks for."""

from edged.engine.device import Device
from edged.model.graph import Graph
from edged.train.config import Learning
from edged.train.optimizer import Adam, Optimizer, Sgd
from edged.train.trainer import Trainer


def trainer_of(graph: Graph, device: Device, learning: Learning) -> Trainer:
    """`graph` in training as `learning` says. Raises ModelError, DeviceError."""
    return Trainer(
        graph,
        device,
        learning.batch,
        _optimizer(learning),
        smoothing=learning.smoothing,
        average=learning.average,
        flip=learning.augment.flip,
        shift=learning.augment.shift,
        seed=learning.seed,
    )


def _optimizer(learning: Learning) -> Optimizer:
    if learning.optimizer == "sgd":
        return Sgd(learning.momentum, learning.nesterov, learning.weight_decay)
    return Adam(weight_decay=learning.weight_decay, decoupled=learning.optimizer == "adamw")
