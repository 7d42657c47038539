"""A norm that was trained gives the same numbers once it is folded away."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from edged.errors import ModelError
from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import Activate, BatchNorm, Conv, Dense, Flatten, Graph, Operator
from edged.model.shapes import make_graph
from edged.train.training_operators import TrainedNorm, folded, new_norm

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 2, 5, 4))


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, np.float32)


def trained(name: str, source: str, channels: int) -> TrainedNorm:
    variance = abs(normal(channels)) + 0.1
    return TrainedNorm(name, (source,), name, normal(channels), normal(channels), normal(channels), variance)


def network(*operators: Operator) -> Graph:
    return make_graph("test", "input", (2, 5, 4), operators)


def kinds(graph: Graph) -> Sequence[type[Operator]]:
    return [type(operator) for operator in graph.operators]


def test_norms_are_folded_into_the_convolution_and_the_dense_layer_before_them() -> None:
    graph = network(
        Conv("conv", ("input",), "conv", normal(6, 2, 3, 3), normal(6), pads=(1, 1, 1, 1)),
        trained("norm", "conv", 6),
        Activate("relu", ("norm",), "relu", RELU),
        Flatten("flatten", ("relu",), "flatten"),
        Dense("dense", ("flatten",), "dense", normal(7, 120), normal(7)),
        trained("last", "dense", 7),
    )

    plain = folded(graph)

    assert kinds(plain) == [Conv, Activate, Flatten, Dense]
    expected = reference.run(graph, X, np.float64)
    np.testing.assert_allclose(reference.run(plain, X, np.float64), expected, rtol=1e-5, atol=1e-5)


def test_a_norm_without_a_layer_before_it_stays_one() -> None:
    graph = network(trained("norm", "input", 2), Flatten("flatten", ("norm",), "flatten"))

    assert kinds(folded(graph)) == [BatchNorm, Flatten]
    expected = reference.run(graph, X, np.float64)
    np.testing.assert_allclose(reference.run(folded(graph), X, np.float64), expected, rtol=1e-5, atol=1e-5)


def test_a_new_norm_leaves_values_as_they_are() -> None:
    graph = network(new_norm("norm", "input", "norm", 2), Flatten("flatten", ("norm",), "flatten"))

    np.testing.assert_allclose(reference.run(graph, X, np.float64), X.reshape(3, -1), rtol=1e-5)


def test_arrays_that_do_not_fit_the_channels_are_named() -> None:
    with pytest.raises(ModelError, match=r"norm .* has mean of shape \(3,\) for an input of shape \(2, 5, 4\)"):
        network(replace(trained("norm", "input", 2), mean=normal(3)))


def test_a_relu_at_its_end_stays_behind_the_convolution() -> None:
    conv = Conv("conv", ("input",), "conv", normal(6, 2, 1, 1), normal(6))
    graph = network(
        conv, replace(trained("norm", "conv", 6), activation=RELU), Flatten("flatten", ("norm",), "flatten")
    )

    assert kinds(folded(graph)) == [Conv, Activate, Flatten]
    expected = reference.run(graph, X, np.float64)
    np.testing.assert_allclose(reference.run(folded(graph), X, np.float64), expected, rtol=1e-5, atol=1e-5)
