"""The trainer: on each device what it learns is what the reference learns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.errors import ModelError
from edged.model import reference
from edged.model.activations import HARD_SWISH, RELU, RELU6, SIGMOID, Activation
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, Graph, MaxPool, Operator, Softmax
from edged.model.package import Input
from edged.model.shapes import make_graph
from edged.train.optimizer import Adam, Optimizer, Sgd
from edged.train.step import Augmentation, Regularization
from edged.train.trainer import NO_REGULARIZATION, Trainer
from edged.train.training_operators import Dropout, new_norm
from tests.compiled import compiled_by
from tests.train.reference.network import at_step, forward_and_back

RANDOM = np.random.default_rng(1)
ROLES = ("weight", "bias", "scale", "offset")
GRAY = Input(7, 6, "gray", 1 / 255, (0.4,), (0.3,))
BATCH = 5
IMAGES = RANDOM.integers(0, 256, (12, 6, 7, 1), np.uint8)
LABELS = RANDOM.integers(0, 3, 12).astype(np.int32)
ORDER = RANDOM.integers(0, 12, (3, BATCH)).astype(np.int32)
RATES = np.full(3, 0.1, np.float32)


@pytest.fixture(scope="module")
def programs() -> Path:
    """Compiled once for all tests here."""
    return compiled_by("training")


def trainer_of(
    graph: Graph, device: Device, programs: Path, optimizer: Optimizer, how: Regularization = NO_REGULARIZATION
) -> Trainer:
    """With its images loaded."""
    trainer = Trainer(graph, device, BATCH, optimizer, regularization=how, cache=programs)
    trainer.load(IMAGES, LABELS, GRAY)
    return trainer


def weights(*shape: int) -> NDArray[np.float32]:
    """For half of the activations to survive ReLU."""
    return np.asarray(RANDOM.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:])), np.float32)


def some(count: int) -> NDArray[np.float32]:
    return RANDOM.standard_normal(count).astype(np.float32)


def dense_network() -> Graph:
    return network(
        Flatten("flatten", ("x",), "v"),
        Dense("one", ("v",), "h", weights(20, 42), some(20)),
        Activate("relu", ("h",), "hr", RELU),
        Dense("two", ("hr",), "scores", weights(3, 20), some(3)),
        Softmax("softmax", ("scores",), "p"),
    )


def dropping_network() -> Graph:
    flatten, one, relu, two, softmax = dense_network().operators
    return network(flatten, one, relu, Dropout("some", ("hr",), "hd", 0.3), replace(two, inputs=("hd",)), softmax)


def residual_network() -> Graph:
    """With a pool, a shortcut as it is and one through a convolution, and a sum inside a convolution."""
    same = (1, 1, 1, 1)
    return network(
        Conv("stem", ("x",), "a", weights(5, 1, 3, 3), some(5), pads=same, activation=RELU),
        MaxPool("pool", ("a",), "b", (2, 2), (1, 1)),
        Conv("first", ("b",), "c", weights(5, 5, 3, 3), some(5), pads=same),
        new_norm("norm", "c", "cn", 5),
        Activate("norm relu", ("cn",), "cr", RELU),
        Conv("second", ("cr",), "d", weights(5, 5, 3, 3), some(5), pads=same),
        Add("sum", ("d", "b"), "e"),
        Activate("relu", ("e",), "er", RELU),
        Conv("down", ("er",), "f", weights(6, 5, 3, 3), some(6), strides=(2, 2), pads=same, activation=RELU),
        Conv("short", ("er",), "g", weights(6, 5, 1, 1), some(6), strides=(2, 2)),
        Conv("inside", ("f", "g"), "h", weights(6, 6, 3, 3), some(6), pads=same, activation=RELU),
        AveragePool("mean", ("h",), "i", (2, 3), (1, 1)),
        Flatten("flatten", ("i",), "j"),
        Dense("dense", ("j",), "scores", weights(3, 12), some(3)),
        Softmax("softmax", ("scores",), "p"),
    )


def curved_network() -> Graph:
    """With activations other than ReLU: inside a convolution, behind a norm, alone, behind Flatten, at the end.

    And with Dropout of images and of features.
    """
    same = (1, 1, 1, 1)
    return network(
        Conv("stem", ("x",), "a", weights(5, 1, 3, 3), some(5), pads=same, activation=RELU6),
        Conv("first", ("a",), "b", weights(5, 5, 3, 3), some(5), pads=same),
        new_norm("norm", "b", "bn", 5),
        Activate("norm relu6", ("bn",), "br", RELU6),
        Dropout("some pixels", ("br",), "bd", 0.3),
        Conv("second", ("bd",), "c", weights(5, 5, 3, 3), some(5), strides=(2, 2), pads=same),
        Activate("alone", ("c",), "cs", SIGMOID),
        Flatten("flatten", ("cs",), "f"),
        Activate("behind", ("f",), "fs", SIGMOID),
        Dense("dense", ("fs",), "d", weights(3, 60), some(3)),
        Dropout("some scores", ("d",), "dd", 0.4),
        Activate("last", ("dd",), "scores", Activation("clip", -0.5, 0.5)),
        Softmax("softmax", ("scores",), "p"),
    )


def grouped_network() -> Graph:
    """An inverted residual, a convolution of two groups, and one that makes two channels of each."""
    same = (1, 1, 1, 1)
    return network(
        Conv("stem", ("x",), "a", weights(4, 1, 3, 3), some(4), pads=same, activation=RELU6),
        Conv("widen", ("a",), "b", weights(20, 4, 1, 1), some(20), activation=RELU6),
        Conv("each", ("b",), "c", weights(20, 1, 3, 3), some(20), pads=same, groups=20, activation=RELU6),
        Conv("narrow", ("c",), "d", weights(4, 20, 1, 1), some(4)),
        Add("sum", ("d", "a"), "e"),
        Conv("groups", ("e",), "f", weights(6, 2, 3, 3), some(6), (2, 2), same, groups=2, activation=RELU),
        Conv("doubled", ("f",), "g", weights(12, 1, 3, 3), some(12), pads=same, groups=6, activation=RELU),
        AveragePool("mean", ("g",), "h", (3, 4), (1, 1)),
        Flatten("flatten", ("h",), "i"),
        Dense("dense", ("i",), "scores", weights(3, 12), some(3)),
        Softmax("softmax", ("scores",), "p"),
    )


def network(*operators: Operator) -> Graph:
    return make_graph("small", "x", (1, 6, 7), operators)


def prepared(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    return (images.transpose(0, 3, 1, 2) / 255 - 0.4) / 0.3


def learnt_by_reference(graph: Graph, order: NDArray[np.int32], rate: float) -> dict[str, NDArray[Any]]:
    """The arrays of a graph after plain steps down the gradient."""
    arrays = {
        f"{one.name}.{role}": getattr(one, role) for one in graph.operators for role in ROLES if hasattr(one, role)
    }
    operators = graph.operators
    for step, batch in enumerate(order, start=1):
        current = tuple(with_arrays(one, arrays) for one in operators)
        now = at_step(make_graph("now", "x", (1, 6, 7), current), seed=0, step=step)
        passed = forward_and_back(now, prepared(IMAGES[batch]), LABELS[batch])
        for name, array in arrays.items():
            operator, _, role = name.partition(".")
            arrays[name] = array - rate * passed.arrays[operator][role]
    return arrays


def with_arrays(operator: Operator, arrays: dict[str, NDArray[Any]]) -> Operator:
    own: dict[str, Any] = {role: arrays[f"{operator.name}.{role}"] for role in ROLES if hasattr(operator, role)}
    return replace(operator, **own)


@pytest.mark.deep
@pytest.mark.parametrize("make", [residual_network, grouped_network])
def test_a_gpu_learns_the_same(device: Device, programs: Path, make: Any) -> None:
    """With the layout and the work-groups that it gets, on the device that there is."""
    graph = make()
    trainer = trainer_of(graph, replace(device, kind="gpu", vector_width=4), programs, Sgd())

    trainer.train(ORDER, RATES)

    found = trainer.state()
    for name, array in learnt_by_reference(graph, ORDER, 0.1).items():
        np.testing.assert_allclose(found[name], array, atol=2e-6, err_msg=name)


@pytest.mark.deep
@pytest.mark.parametrize("make", [dense_network, residual_network, curved_network, grouped_network])
def test_it_learns_what_the_reference_learns(device: Device, programs: Path, make: Any) -> None:
    graph = make()
    trainer = trainer_of(graph, device, programs, Sgd())

    trainer.train(ORDER, RATES)

    expected = learnt_by_reference(graph, ORDER, 0.1)
    found = trainer.state()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("optimizer", [Sgd(momentum=0.9, weight_decay=0.01), Adam()])
def test_to_stop_and_go_on_elsewhere_changes_no_bit(device: Device, programs: Path, optimizer: Optimizer) -> None:
    graph = dropping_network()
    how = Regularization(average=0.9, augmentation=Augmentation(flip=True, shift=1), seed=3)
    whole, first, second = (trainer_of(graph, device, programs, optimizer, how) for _ in range(3))

    whole.train(ORDER, RATES)
    first.train(ORDER[:1], RATES[:1])
    second.restore(first.state())
    second.train(ORDER[1:], RATES[1:])

    expected, found = whole.state(), second.state()
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.deep
@pytest.mark.parametrize("make", [dense_network, residual_network, curved_network, grouped_network])
def test_what_it_evaluates_is_what_its_graph_computes(
    device: Device, programs: Path, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edged.train.trainer.UPLOAD_BYTES", IMAGES[:BATCH].nbytes)  # in two uploads
    trainer = trainer_of(make(), device, programs, Sgd(momentum=0.9), Regularization(average=0.5))
    trainer.train(ORDER, RATES)

    found = trainer.evaluate(IMAGES[:7], LABELS[:7])

    expected = reference.run(trainer.graph(), prepared(IMAGES[:7]), np.float64)
    np.testing.assert_allclose(found.probabilities, expected, atol=1e-5)
    assert found.accuracy == np.mean(expected.argmax(axis=1) == LABELS[:7])
    assert found.loss == pytest.approx(-np.log(expected[np.arange(7), LABELS[:7]]).mean(), rel=1e-4)


def test_it_tells_the_loss_since_it_was_asked_last(device: Device, programs: Path) -> None:
    graph = dense_network()
    trainer = trainer_of(graph, device, programs, Sgd(), Regularization(smoothing=0.1))
    trainer.train(ORDER[:1], RATES[:1])
    trainer.figures()
    after_one = trainer.graph()

    trainer.train(ORDER[1:2], RATES[1:2])

    passed = forward_and_back(after_one, prepared(IMAGES[ORDER[1]]), LABELS[ORDER[1]], smoothing=0.1)
    found = trainer.figures()
    assert found.images == BATCH
    assert found.loss == pytest.approx(passed.loss, rel=1e-4)
    assert found.accuracy == pytest.approx(passed.right / BATCH)


def test_vectors_of_features_are_learnt_too(device: Device, programs: Path) -> None:
    features = RANDOM.standard_normal((12, 42)).astype(np.float32)
    operators = dense_network().operators[1:]
    trainer = Trainer(make_graph("head", "v", (42,), operators), device, BATCH, Sgd(), cache=programs)
    trainer.load(features, LABELS, None)
    before = trainer.evaluate(features, LABELS)

    each_as_often = np.arange(120 * BATCH, dtype=np.int32).reshape(120, BATCH) % len(features)
    trainer.train(each_as_often, np.full(120, 0.05, np.float32))

    assert trainer.evaluate(features, LABELS).loss < before.loss / 2


def test_what_it_cannot_train_is_refused(device: Device, programs: Path) -> None:
    whole = Conv("whole", ("x",), "y", weights(2, 1, 6, 7), some(2), activation=HARD_SWISH)
    with pytest.raises(ModelError, match=r"whole ends in hard_swish; .* relu, clip, sigmoid"):
        Trainer(network(whole), device, BATCH, Sgd(), cache=programs)
    with pytest.raises(ModelError, match=r"expected one each, of uint8 .*, and how they are normalised"):
        Trainer(dense_network(), device, BATCH, Sgd(), cache=programs).evaluate(IMAGES, LABELS)
    with pytest.raises(ModelError, match=r"4 labels for images of uint8 \(12, 6, 7, 1\)"):
        trainer_of(dense_network(), device, programs, Sgd()).load(IMAGES, LABELS[:4], GRAY)


def test_a_state_of_another_network_is_refused(device: Device, programs: Path) -> None:
    trainer = trainer_of(dense_network(), device, programs, Sgd())
    state = trainer.state() | {"two.bias": np.zeros(4, np.float32)}

    with pytest.raises(ModelError, match=r"cannot continue: two.bias is \(4,\), expected \(3,\)"):
        trainer.restore(state)
