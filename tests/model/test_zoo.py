"""Networks by name: their costs are those that torchvision publishes."""

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.cost import macs
from edged.model.passes import simplify
from edged.model.zoo import NETWORKS

MILLION = 1e6
# Multiply-accumulates and weights, in millions, at 224×224: torchvision's documentation, batch norms not counted.
PUBLISHED = {
    "alexnet": (714, 61.1),
    "vgg11": (7609, 132.9),
    "vgg13": (11308, 133.0),
    "vgg16": (15470, 138.4),
    "vgg19": (19632, 143.7),
    "squeezenet1_0": (819, 1.25),
    "squeezenet1_1": (349, 1.24),
    "mobilenetv2": (301, 3.50),
    "densenet121": (2834, 7.98),
    "shufflenetv2": (145, 2.28),
    "resnet18": (1814, 11.69),
    "resnet50": (4089, 25.56),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_costs_what_is_published(name: str) -> None:
    graph = NETWORKS[name](224, 224)

    weights = sum(getattr(operator, part).size for operator in graph.operators for part in parts_of(operator))

    expected = PUBLISHED[name]
    assert graph.shapes[graph.output] == (1000,)
    assert macs(graph) / MILLION == pytest.approx(expected[0], rel=0.005)
    assert weights / MILLION == pytest.approx(expected[1], rel=0.012)


def parts_of(operator: object) -> list[str]:
    return [part for part in ("weight", "bias") if hasattr(operator, part)]


@pytest.mark.parametrize("name", ["squeezenet1_1", "mobilenetv2", "shufflenetv2"])
def test_activations_stay_of_the_order_of_one(name: str) -> None:
    graph = simplify(NETWORKS[name](96, 80))
    x = np.random.default_rng(0).standard_normal((1, 3, 80, 96)).astype(np.float32)

    scores = reference.run(graph, x)

    assert scores.shape == (1, 1000)
    assert 1e-3 < np.ptp(scores) < 1e3


def test_an_image_that_is_too_small_is_one_clear_error() -> None:
    with pytest.raises(ModelError, match="the input size is too small for it"):
        NETWORKS["alexnet"](40, 40)
