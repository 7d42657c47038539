"""A head trained by the trainer of `edged train`, on an OpenCL device."""

from edged.engine.device import Device
from edged.model.graph import Dense
from edged.model.head import Head
from edged.model.shapes import make_graph
from edged.teach.examples import Examples
from edged.teach.fit import Recipe, Scale, first_head
from edged.train.optimizer import Adam
from edged.train.trainer import Trainer

SOURCE = "features"


def fit_on(device: Device, examples: Examples, recipe: Recipe) -> Head:
    """As `fit_numpy`, in single precision. Raises DeviceError."""
    scale = Scale.of(examples.features)
    features = scale.apply(examples.features)
    head = first_head(features.shape[1], len(examples.labels), recipe)
    graph = make_graph("head", SOURCE, features.shape[1:], head.operators(SOURCE))
    trainer = Trainer(graph, device, recipe.batch, Adam(weight_decay=recipe.decay, decoupled=True))
    trainer.load(features, examples.classes, None)
    trainer.train(recipe.orders(len(features)), recipe.rates())
    hidden, scores = (each for each in trainer.graph().operators if isinstance(each, Dense))
    return scale.folded(Head(hidden.weight, hidden.bias, scores.weight, scores.bias))
