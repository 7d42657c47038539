"""From layers to a graph."""

from pathlib import Path

import numpy as np
import pytest

from edged.errors import ConfigError
from edged.model.activations import RELU, RELU6, SIGMOID
from edged.model.graph import Activate, Conv, Dense, Graph
from edged.train.build import build
from edged.train.config import load_training

HEAD = "name: mine\ninput: {width: 8, height: 6, color: gray}\n"


def built(folder: Path, layers: str, seed: int = 1) -> Graph:
    path = folder / "mine.yaml"
    path.write_text(f"{HEAD}layers: {layers}\n")
    training, _ = load_training(str(path))
    return build(training, classes=3, seed=seed, file=path)


def test_every_layer_becomes_operators(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "[{conv: {filters: 4, kernel: 3}}, norm, relu, {max_pool: 2}, "
        "{residual: [{conv: {filters: 8, stride: 2}}, norm, relu, {conv: 8}, norm]}, relu, "
        "{average_pool: {size: 2, stride: 1}}, global_pool, {dense: classes}]",
    )

    assert [type(operator).__name__ for operator in graph.operators] == [
        "Conv", "TrainedNorm", "Activate", "MaxPool",
        "Conv", "TrainedNorm", "Activate", "Conv", "TrainedNorm", "Conv", "TrainedNorm", "Add",
        "Activate", "AveragePool", "AveragePool", "Flatten", "Dense", "Softmax",
    ]  # fmt: skip
    assert graph.shapes[graph.output] == (3,)


def test_activations_are_those_of_the_model(tmp_path: Path) -> None:
    graph = built(tmp_path, "[relu, relu6, sigmoid, flatten, {dense: classes}]")

    found = [operator.activation for operator in graph.operators if isinstance(operator, Activate)]
    assert found == [RELU, RELU6, SIGMOID]


def test_convolutions_of_groups_and_of_each_channel(tmp_path: Path) -> None:
    graph = built(
        tmp_path,
        "[{conv: 8}, {depthwise: 5}, {depthwise: {stride: 2}}, {conv: {filters: 6, groups: 2}}, "
        "flatten, {dense: classes}]",
    )

    found = [(each.weight.shape, each.groups) for each in graph.operators if isinstance(each, Conv)]
    assert found == [((8, 1, 3, 3), 1), ((8, 1, 5, 5), 8), ((8, 1, 3, 3), 8), ((6, 4, 3, 3), 2)]
    assert graph.shapes[graph.operators[3].output] == (6, 3, 4)


def test_weights_start_as_he_et_al_say_and_biases_at_zero(tmp_path: Path) -> None:
    graph = built(tmp_path, "[{conv: 512}, relu, flatten, {dense: 100}, relu, {dense: classes}]")
    conv, hidden, last = (operator for operator in graph.operators if isinstance(operator, Conv | Dense))

    assert float(conv.weight.std()) == pytest.approx((2 / 9) ** 0.5, rel=0.05)
    assert float(hidden.weight.std()) == pytest.approx((2 / hidden.weight.shape[1]) ** 0.5, rel=0.05)
    assert float(last.weight.std()) == pytest.approx((1 / 100) ** 0.5, rel=0.15)
    assert not conv.bias.any()


def test_the_same_seed_is_the_same_network(tmp_path: Path) -> None:
    weights = [built(tmp_path, "[flatten, {dense: classes}]", seed).operators[1] for seed in (1, 1, 2)]
    first, same, other = (operator.weight for operator in weights if isinstance(operator, Dense))

    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (
            "[{dense: classes}]",
            r"3:10: layers.0: dense reads features, found an image of 1 .*: put flatten before it",
        ),
        ("[flatten, {conv: 3}]", "3:19: layers.1: conv reads an image, found 48 features: put it before flatten"),
        (
            "[{conv: 8}, {conv: {filters: 6, groups: 4}}, flatten]",
            "3:21: layers.1: conv: 4 groups do not divide 8 channels and 6 filters: choose a number",
        ),
        ("[flatten, {dropout: 1.5}, {dense: classes}]", "layers.1.dropout: expected less than 1.0, found 1.5"),
        ("[flatten, {dense: 5}]", "3:9: layers: the last layer gives 5 features; expected 3, one per label"),
        (
            "[{max_pool: 7}, flatten]",
            "3:10: layers.0: max_pool does not fit an image .*: the input size is too small",
        ),
        (
            "[{residual: [{conv: {filters: 2, kernel: 3, padding: none}}]}, flatten]",
            "3:10: layers.0: its layers make an image of 2 .*: no stride of a 1×1 convolution beside them does",
        ),
        ("[{residual: [{conv: 2}, flatten]}]", "3:10: layers.0: its layers give 96 features; expected an image"),
        (
            "[{conv: {filters: 16384, kernel: 9999}}]",
            "3:10: layers.0: conv does not fit .* 16384 × 1 × 9999 × 9999",
        ),
        (
            "[{residual: [relu, {max_pool: {size: 2, padding: 2}}]}]",
            "3:28: layers.0.residual.1: max_pool does not fit .* has pads",
        ),
    ],
)
def test_layers_that_do_not_fit_are_named_with_their_line(tmp_path: Path, layers: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        built(tmp_path, layers)
