"""Loss, whole networks and optimizers in NumPy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.model.activations import RELU
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, Graph, MaxPool, Operator, Softmax
from edged.model.shapes import make_graph
from edged.train.optimizer import Adam, Sgd
from edged.train.training_operators import new_norm
from tests.train.reference.backward import running
from tests.train.reference.network import cross_entropy, forward_and_back, no_moments, step

RANDOM = np.random.default_rng(0)
STEP = 1e-5


def normal(*shape: int) -> NDArray[Any]:
    return RANDOM.standard_normal(shape)


def small_resnet() -> Graph:
    """Every operator once; weights are float64, so that differences are not lost."""
    operators: tuple[Operator, ...] = (
        Conv("conv1", ("input",), "conv1", normal(4, 2, 3, 3), normal(4), pads=(1, 1, 1, 1)),
        new_norm("norm1", "conv1", "norm1", 4),
        Activate("relu1", ("norm1",), "relu1", RELU),
        MaxPool("pool", ("relu1",), "pool", (2, 2), (2, 2)),
        Conv("conv2", ("pool",), "conv2", normal(4, 4, 3, 3), normal(4), pads=(1, 1, 1, 1)),
        Add("add", ("conv2", "pool"), "add", activation=RELU),
        AveragePool("mean", ("add",), "mean", (2, 2), (1, 1)),
        Flatten("flatten", ("mean",), "flatten"),
        Dense("dense", ("flatten",), "dense", normal(3, 8), normal(3)),
        Softmax("softmax", ("dense",), "softmax"),
    )
    return make_graph("small", "input", (2, 6, 5), operators)


def changed(graph: Graph, name: str, key: str, change: NDArray[Any]) -> Graph:
    def one(operator: Operator) -> Operator:
        return replace(operator, **{key: getattr(operator, key) + change}) if operator.name == name else operator

    return replace(graph, operators=tuple(map(one, graph.operators)))


def test_the_gradient_of_a_whole_network_is_the_slope_of_its_loss() -> None:
    graph, x, labels = small_resnet(), normal(5, 2, 6, 5), np.array([0, 2, 1, 1, 0], np.int32)

    passed = forward_and_back(graph, x, labels, smoothing=0.1)

    assert {"conv1", "norm1", "conv2", "dense"} <= passed.arrays.keys()
    for name, arrays in passed.arrays.items():
        for key, gradient in arrays.items():
            along = normal(*gradient.shape)
            after, before = (
                forward_and_back(changed(graph, name, key, sign * STEP * along), x, labels, 0.1).loss
                for sign in (1, -1)
            )
            expected = (after - before) / (2 * STEP)
            assert (gradient * along).sum() == pytest.approx(expected, rel=1e-5, abs=1e-8), f"{name}.{key}"


def test_a_tensor_with_two_readers_gets_the_gradients_of_both() -> None:
    graph = make_graph("twice", "input", (3,), [Add("add", ("input", "input"), "output")])

    passed = forward_and_back(graph, normal(2, 3), np.array([0, 1], np.int32))

    np.testing.assert_allclose(passed.gradients["input"], 2 * passed.gradients["output"])


def test_the_gradient_of_the_loss_is_its_slope() -> None:
    scores, labels, along = normal(4, 5), np.array([1, 0, 4, 1], np.int32), normal(4, 5)

    loss, gradient = cross_entropy(scores, labels, smoothing=0.2)

    after, before = (cross_entropy(scores + sign * STEP * along, labels, 0.2)[0] for sign in (1, -1))
    assert (gradient * along).sum() == pytest.approx((after - before) / (2 * STEP), rel=1e-6)
    assert loss > 0


def test_huge_scores_have_a_finite_loss() -> None:
    loss, gradient = cross_entropy(np.array([[1e4, -1e4]]), np.array([1], np.int32))

    assert loss == pytest.approx(2e4)
    assert gradient.tolist() == [[1.0, -1.0]]


def test_statistics_run_after_those_of_the_batch() -> None:
    mean, variance = np.full(1, 10, np.float32), np.full(1, 4, np.float32)
    norm = replace(new_norm("norm", "x", "y", 1), mean=mean, variance=variance, momentum=0.25)

    mean, variance = running(norm, np.array([[1.0], [3.0]]))

    assert mean.tolist() == [0.75 * 10 + 0.25 * 2]
    assert variance.tolist() == [0.75 * 4 + 0.25 * 2]  # of two values at a distance of 2, without bias


def test_sgd_goes_on_in_the_direction_of_its_momentum() -> None:
    how, weight, moments = Sgd(momentum=0.5), np.array([1.0]), no_moments(np.array([1.0]))

    weight, moments = step(how, weight, np.array([2.0]), moments, rate=0.1, count=1)
    weight, moments = step(how, weight, np.array([0.0]), moments, rate=0.1, count=2)

    assert weight == pytest.approx(1 - 0.1 * 2 - 0.1 * 1)


def test_nesterov_looks_ahead() -> None:
    how, weight = Sgd(momentum=0.5, nesterov=True), np.array([1.0])

    weight, _ = step(how, weight, np.array([2.0]), no_moments(weight), rate=0.1, count=1)

    assert weight == pytest.approx(1 - 0.1 * (2 + 0.5 * 2))


@pytest.mark.parametrize("gradient", [1e-3, 1e3])
def test_adams_first_step_is_as_long_as_the_rate_whatever_the_gradient(gradient: float) -> None:
    weight, _ = step(Adam(), np.array([1.0]), np.array([gradient]), no_moments(np.array([1.0])), rate=0.1, count=1)

    assert weight == pytest.approx(0.9, rel=1e-4)


def test_weights_decay_and_biases_do_not() -> None:
    one, none = np.array([1.0]), np.array([0.0])

    for how in (Sgd(weight_decay=0.5), Adam(weight_decay=0.5)):
        assert step(how, one, none, no_moments(one), 0.1, 1)[0] == pytest.approx(0.95)
        assert step(how, one, none, no_moments(one), 0.1, 1, decays=False)[0] == 1
