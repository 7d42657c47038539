"""What is exported is read again as the same network, by edged and by onnxruntime."""

from pathlib import Path

import numpy as np
import pytest

from edged import config
from edged.model import reference
from edged.model.activations import RELU
from edged.model.graph import (
    Activate,
    Add,
    AveragePool,
    BatchNorm,
    Conv,
    Dense,
    Flatten,
    Float32,
    Graph,
    MaxPool,
    Operator,
    Softmax,
)
from edged.model.package import Input, load_model
from edged.model.passes import simplify
from edged.model.shapes import make_graph
from edged.train.export import to_onnx
from edged.train.norm import TrainedNorm
from tests.model.onnx_files import onnxruntime_outputs, relative_error

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
