"""Train a head on features: on an OpenCL device by the trainer of `edged train`, else in NumPy."""

from typing import TYPE_CHECKING

from edged.model.graph import Dense
from edged.model.head import Head
from edged.model.shapes import make_graph
from edged.teach.examples import LabelledFeatures
from edged.teach.fit import FitSettings, Scale, first_head, fit_numpy

if TYPE_CHECKING:
    from edged.engine.device import Device

SOURCE = "features"


def fit(examples: LabelledFeatures, recipe: FitSettings, device: "Device | None") -> Head:
    """Train a head on `device`, or in NumPy if it is None. Raises DeviceError."""
    return fit_numpy(examples, recipe) if device is None else fit_on(device, examples, recipe)


def fit_on(device: "Device", examples: LabelledFeatures, recipe: FitSettings) -> Head:
    """Train a head as `fit_numpy` does, in single precision. Raises DeviceError."""
    from edged.train.optimizer import Adam  # imports pyopencl, which a machine without OpenCL may lack
    from edged.train.trainer import Trainer

    scale = Scale.of(examples.features)
    features = scale.apply(examples.features)
    head = first_head(features.shape[1], len(examples.labels), recipe)
    graph = make_graph("head", SOURCE, features.shape[1:], head.operators(SOURCE))
    trainer = Trainer(graph, device, recipe.batch, Adam(weight_decay=recipe.decay, decoupled=True))
    trainer.load(features, examples.classes, None)
    trainer.train(recipe.orders(len(features)), recipe.rates())
    hidden, scores = (each for each in trainer.graph().operators if isinstance(each, Dense))
    return scale.folded(Head(hidden.weight, hidden.bias, scores.weight, scores.bias))
