"""Start a training from a pretrained network: unchanged, or with a new last layer."""

import math
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.graph import Dense, Graph, Softmax
from edged.model.package import Model
from edged.model.shapes import make_graph


def start_from(model: Model, labels: tuple[str, ...], seed: int) -> Graph:
    """Return the network of `model` for these labels, a Softmax at its end.

    If they are not the model's own, in the same order, its last layer is initialised again (He et al., 2015).
    Raises ModelError for a network that does not end in a Dense.
    """
    network = model.graph
    if not isinstance(network.operators[-1], Softmax):
        softmax = Softmax("softmax", (network.output,), "softmax")
        network = make_graph(
            network.name, network.input, network.shapes[network.input], (*network.operators, softmax)
        )
    if model.labels == labels:
        return network
    last = network.operators[-2]
    if not isinstance(last, Dense) or last.output != network.operators[-1].inputs[0]:
        raise ModelError(
            f"{model.name}: its labels are not those of the data, and its last layer is no Dense that could be "
            "replaced: train it with its own labels, or start from another model"
        )
    features = last.weight.shape[1]
    weight = np.random.default_rng(seed).standard_normal((len(labels), features), np.float32)
    weight *= np.float32(math.sqrt(1 / features))
    anew = replace(last, weight=weight, bias=np.zeros(len(labels), np.float32))
    operators = (*network.operators[:-2], anew, network.operators[-1])
    return make_graph(network.name, network.input, network.shapes[network.input], operators)
