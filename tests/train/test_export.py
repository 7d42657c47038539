"""What is exported is read again as the same network, by edged and by onnxruntime."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest

from edged import config
from edged.errors import ModelError
from edged.model import reference
from edged.model.activations import FUNCTIONS, RELU, Activation
from edged.model.from_onnx.file import read_file
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    BatchNorm,
    Combine,
    Concat,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    LocalResponseNorm,
    MaxPool,
    OnHost,
    Operator,
    SelectChannels,
    Softmax,
    Unflatten,
)
from edged.model.onnx_reader import graph_of, read_onnx
from edged.model.package import Input, load_model
from edged.model.passes import simplify
from edged.model.reference import COMBINATIONS
from edged.model.shapes import make_graph
from edged.train.export import to_onnx
from edged.train.training_operators import Dropout, TrainedNorm
from tests.model.onnx_files import onnxruntime_outputs, relative_error
from tests.model.token_networks import NETWORKS

WANTED = Input(12, 10, "bgr", 1 / 255, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
LABELS = ("one", "twö", 'th"ree')


def every_operator() -> Graph:
    """Each kind, each option."""
    random = np.random.default_rng(3)

    def normal(*shape: int) -> Float32:
        return random.standard_normal(shape, np.float32) / np.float32(3)

    def positive(count: int) -> Float32:
        return np.abs(normal(count)) + np.float32(0.5)

    norm = TrainedNorm("norm", ("stem",), "normed", positive(8), normal(8), normal(8), positive(8))
    chain: tuple[Operator, ...] = (
        Conv("stem", ("image",), "stem", normal(8, 3, 3, 3), normal(8), (2, 1), (1, 0, 1, 2)),
        norm,
        Activate("relu", ("normed",), "active", RELU),
        Conv(
            "groups",
            ("active", "active"),
            "wide",
            normal(8, 4, 3, 3),
            normal(8),
            (1, 1),
            (2, 2, 2, 2),
            (2, 2),
            2,
            RELU,
        ),
        Add("add", ("wide", "active"), "sum", activation=RELU),
        MaxPool("most", ("sum",), "most", (3, 2), (1, 2), (1, 0, 0, 1)),
        BatchNorm("alone", ("most",), "scaled", normal(8), normal(8)),
        AveragePool("mean", ("scaled",), "mean", (2, 2), (2, 2), (0, 1, 0, 1), count_include_pad=True),
        Flatten("flat", ("mean",), "flat"),
    )
    features = make_graph("", "image", (3, 10, 12), chain).shapes["flat"][0]
    ends = (
        Dense("hidden", ("flat",), "hidden", normal(7, features), normal(7), activation=RELU),
        Dense("scores", ("hidden",), "scores", normal(3, 7), normal(3)),
        Softmax("softmax", ("scores",), "shares"),
    )
    return make_graph("all", "image", (3, 10, 12), (*chain, *ends))


@pytest.mark.parametrize("simplified", [False, True])
def test_onnxruntime_and_edged_answer_what_was_trained(tmp_path: Path, simplified: bool) -> None:
    trained = every_operator()
    images = np.random.default_rng(0).integers(0, 256, (4, 10, 12, 3), np.uint8)
    x = reference.prepare(images, WANTED)
    expected = reference.run(trained, x, np.float64)
    path = tmp_path / "model.onnx"
    network = trained

    if simplified:
        path.write_bytes(to_onnx(trained, "first", LABELS, WANTED))
        network = simplify(load_model(config.ModelConfig(path=path)).graph)
    path.write_bytes(to_onnx(network, "taught", LABELS, WANTED))

    model = load_model(config.ModelConfig(path=path))
    assert relative_error(onnxruntime_outputs(path, x), expected) < 1e-5
    assert relative_error(reference.run(model.graph, x), expected) < 1e-5
    assert (model.name, model.labels, model.input) == ("taught", LABELS, WANTED)


def test_the_same_network_is_the_same_file() -> None:
    network = every_operator()

    assert to_onnx(network, "a", LABELS, WANTED) == to_onnx(network, "a", LABELS, WANTED)


NUMBERS = {
    "clip": (-0.5, 0.8),
    "leaky_relu": (0.1, 0.0),
    "elu": (0.7, 0.0),
    "selu": (1.67, 1.05),
    "hard_sigmoid": (0.2, 0.5),
}
OF_POSITIVE_NUMBERS = ("log", "sqrt", "reciprocal")


def with_each_activation() -> Graph:
    """Every activation of the same image, those of positive numbers of its absolute values, side by side."""
    weight = np.random.default_rng(5).standard_normal((4, 3, 1, 1), np.float32)
    bias = np.zeros(4, np.float32)
    chain: list[Operator] = [
        Conv("start", ("image",), "start", weight, bias),
        Activate("size", ("start",), "size", Activation("absolute")),
        Combine("positive", ("size",), "positive", "add", np.full((1, 1, 1), 0.5, np.float32)),
    ]
    for kind in [kind for kind in FUNCTIONS if kind != "linear"]:
        source = "positive" if kind in OF_POSITIVE_NUMBERS else "start"
        chain.append(Activate(kind, (source,), f"{kind} of it", Activation(kind, *NUMBERS.get(kind, ()))))
    chain.append(Concat("all", tuple(operator.output for operator in chain[3:]), "all"))
    chain.append(Flatten("scores", ("all",), "scores"))
    return make_graph("activations", "image", (3, 10, 12), chain)


def with_each_arithmetic() -> Graph:
    """Constants on either side, two tensors, features as an image, and channels in another order."""
    numbers = np.random.default_rng(6).uniform(0.5, 2, (3, 1, 1)).astype(np.float32)
    chain: list[Operator] = [Activate("positive", ("image",), "positive", Activation("exp"))]
    for kind in [kind for kind in COMBINATIONS if kind != "prelu"]:
        chain.append(Combine(f"{kind} a", ("positive",), f"{kind} a", kind, numbers))
        chain.append(Combine(f"{kind} b", ("positive",), f"{kind} b", kind, numbers, is_reversed=True))
        chain.append(Combine(f"{kind} c", (f"{kind} a", f"{kind} b"), f"{kind} c", kind))
    chain += [
        Concat("joined", tuple(operator.output for operator in chain), "joined"),
        LocalResponseNorm("lrn", ("joined",), "even", 5, 0.01, 0.6, 1.5),
        SelectChannels("turned", ("even",), "turned", tuple(range(65, -1, -2))),
        AveragePool("mean", ("turned",), "mean", (10, 12)),
        Flatten("flat", ("mean",), "flat"),
        Unflatten("pixel", ("flat",), "pixel"),
        Combine("gated", ("turned", "pixel"), "gated", "multiply"),
        Flatten("scores", ("gated",), "scores"),
    ]
    return make_graph("arithmetic", "image", (3, 10, 12), chain)


@pytest.mark.parametrize("network", [with_each_activation(), with_each_arithmetic()], ids=lambda each: each.name)
def test_every_operator_that_edged_runs_can_be_written(tmp_path: Path, network: Graph) -> None:
    images = np.random.default_rng(0).integers(0, 256, (2, 10, 12, 3), np.uint8)
    x = reference.prepare(images, WANTED)
    expected = reference.run(network, x, np.float64)
    path = tmp_path / "model.onnx"

    path.write_bytes(to_onnx(network, network.name, [], WANTED))

    assert relative_error(onnxruntime_outputs(path, x), expected) < 1e-5
    back = graph_of(read_file(path))
    assert relative_error(reference.run(back, x), expected) < 1e-5


@pytest.mark.parametrize("name", ["mobilenetv3_small", "shufflenetv2"])
def test_a_network_of_depthwise_convolutions_can_be_written_after_it_is_simplified(
    tmp_path: Path, name: str
) -> None:
    model = load_model(config.ModelConfig(name=name, size=32))
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), np.float32)
    path = tmp_path / "model.onnx"

    path.write_bytes(to_onnx(model.graph, name, model.labels, model.input))

    expected = reference.run(model.graph, x, np.float64)
    back = load_model(config.ModelConfig(path=path)).graph
    assert relative_error(onnxruntime_outputs(path, x), expected) < 1e-5
    assert relative_error(reference.run(back, x), expected) < 1e-5
    assert len(back.operators) == len(model.graph.operators)


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "channels last"])
def test_networks_with_attention_and_norms_can_be_written(tmp_path: Path, name: str) -> None:
    network = NETWORKS[name]()
    graph = simplify(read_onnx(network.save(tmp_path / "first.onnx")))
    x = np.random.default_rng(0).standard_normal((2, *map(int, network.shape[1:]))).astype(np.float32)
    path = tmp_path / "second.onnx"

    path.write_bytes(to_onnx(graph, name, [], WANTED))

    expected = reference.run(graph, x, np.float64)
    assert relative_error(onnxruntime_outputs(path, x), expected) < 1e-5
    assert relative_error(reference.run(read_onnx(path), x), expected) < 1e-5


def test_an_operator_of_the_host_is_one_clear_error() -> None:
    resize = OnHost("up", ("image",), "up", "Resize", b"", ((1, 3, 10, 12),), (3, 20, 24))
    network = make_graph("host", "image", (3, 10, 12), [resize])

    with pytest.raises(ModelError, match="up: Resize, which only the host computes, cannot be written"):
        to_onnx(network, "host", [], WANTED)


def test_an_operator_that_cannot_be_written_is_named() -> None:
    @dataclass(frozen=True, eq=False)
    class Unheard(Operator):
        """An operator of a later version."""

    network = make_graph("new", "image", (3, 10, 12), [Unheard("odd", ("image",), "odd")])

    with pytest.raises(ModelError, match="odd: an operator of the kind Unheard cannot be written to an ONNX file"):
        to_onnx(network, "new", [], WANTED)


def test_dropout_is_not_in_the_file() -> None:
    weight, bias = np.ones((3, 3, 1, 1), np.float32), np.zeros(3, np.float32)
    chain: tuple[Operator, ...] = (
        Conv("conv", ("image",), "conv", weight, bias),
        Dropout("some", ("conv",), "some", 0.5),
        AveragePool("mean", ("some",), "mean", (10, 12)),
        Flatten("flat", ("mean",), "flat"),
        Dropout("last", ("flat",), "last", 0.5),
    )
    network = make_graph("dropped", "image", (3, 10, 12), chain)

    file = onnx.load_model_from_string(to_onnx(network, "dropped", LABELS, WANTED))

    assert [node.op_type for node in file.graph.node] == ["Conv", "AveragePool", "Flatten"]
    assert file.graph.output[0].name == "flat"
