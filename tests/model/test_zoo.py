"""Networks by name: they have the parameters and multiplications that are published."""

from collections.abc import Iterator

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.cost import macs
from edged.model.graph import Conv, Dense, Graph
from edged.model.passes import simplify
from edged.model.zoo import NETWORKS

# Millions of multiply-accumulates at 224×224, and parameters: torchvision's documentation. MobileNetV1: its paper,
# and the parameters that Keras trains. EfficientNet-Lite0: EfficientNet-B0 in torchvision, 386, less its
# squeeze-and-excite; parameters of timm.
PUBLISHED = {
    "alexnet": (714, 61_100_840),
    "vgg11": (7609, 132_863_336),
    "vgg13": (11308, 133_047_848),
    "vgg16": (15470, 138_357_544),
    "vgg19": (19632, 143_667_240),
    "squeezenet1_0": (819, 1_248_424),
    "squeezenet1_1": (349, 1_235_496),
    "googlenet": (1498, 6_624_904),
    "mobilenetv1": (569, 4_231_976),
    "mobilenetv2": (301, 3_504_872),
    "mobilenetv3_large": (217, 5_483_032),
    "mobilenetv3_small": (57, 2_542_856),
    "efficientnet_lite0": (385, 4_652_008),
    "shufflenetv2": (145, 2_278_604),
    "regnet_y_400mf": (402, 4_344_144),
    "resnet18": (1814, 11_689_512),
    "resnet34": (3664, 21_797_672),
    "resnet50": (4089, 25_557_032),
    "resnet101": (7801, 44_549_160),
    "resnet152": (11514, 60_192_808),
}
WITHOUT_NORMS = ("alexnet", "vgg", "squeezenet")


def test_every_network_is_compared_with_what_is_published() -> None:
    assert NETWORKS.keys() - PUBLISHED.keys() == {"densenet121"}


def with_depth(names: Iterator[str]) -> list[object]:
    """Return the names; those with so many weights that they take seconds are deep."""
    return [
        pytest.param(name, marks=[pytest.mark.deep] if PUBLISHED[name][1] > 30_000_000 else []) for name in names
    ]


@pytest.mark.parametrize("name", with_depth(iter(PUBLISHED)))
def test_each_costs_what_is_published(name: str) -> None:
    graph = NETWORKS[name](224, 224)

    millions, parameters = PUBLISHED[name]
    assert graph.shapes[graph.output] == (1000,)
    assert round(macs(graph) / 1e6) == millions
    assert sum(published_parameters(graph)) == parameters


def published_parameters(graph: Graph) -> Iterator[int]:
    """Yield the parameters of each layer before its norm was folded: two for each channel, where a bias is one."""
    for operator in graph.operators:
        if isinstance(operator, Conv | Dense):
            is_normed = (
                isinstance(operator, Conv)
                and ".squeeze." not in operator.name
                and not graph.name.startswith(WITHOUT_NORMS)
            )
            yield operator.weight.size + len(operator.bias) * (2 if is_normed else 1)


def test_densenet_with_its_norms_behind_convolutions_costs_what_is_published() -> None:
    graph = NETWORKS["densenet121"](224, 224)

    assert round(macs(graph) / 1e6) == 2834
    assert sum(published_parameters(graph)) == pytest.approx(7_978_856, rel=0.01)


@pytest.mark.parametrize(
    "name",
    [
        "squeezenet1_1",
        "googlenet",
        "mobilenetv1",
        "mobilenetv2",
        "mobilenetv3_large",
        "mobilenetv3_small",
        "efficientnet_lite0",
        "shufflenetv2",
        "regnet_y_400mf",
    ],
)
def test_activations_stay_of_the_order_of_one(name: str) -> None:
    graph = simplify(NETWORKS[name](96, 80))
    x = np.random.default_rng(0).standard_normal((1, 3, 80, 96)).astype(np.float32)

    scores = reference.run(graph, x)

    assert scores.shape == (1, 1000)
    assert 1e-3 < np.ptp(scores) < 1e3


def test_an_image_that_is_too_small_is_one_clear_error() -> None:
    with pytest.raises(ModelError, match="the input size is too small for it"):
        NETWORKS["alexnet"](40, 40)
