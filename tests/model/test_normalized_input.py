"""Networks that normalize their pictures themselves take pixels of 0 … 1."""

from pathlib import Path

import numpy as np
import onnx
import pytest

from edged import config
from edged.errors import ModelError
from edged.model.package import load_model
from tests.model.onnx_files import Network

MEANS, DEVIATIONS = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def network(path: Path, means: tuple[float, ...], *, divides: bool = True, splits: bool = False) -> Path:
    net = Network((1, 3, 8, 8))
    if splits:
        net.add("Shape")
        picture = net.add("Squeeze", net.weight(np.array([0])), reads="input")
        net.add("Unsqueeze", net.weight(np.array([0])), reads=picture)
    net.add("Sub", net.weight(np.array(means, np.float32).reshape(-1, 1, 1)))
    if divides:
        net.add("Div", net.weight(np.array(DEVIATIONS, np.float32).reshape(-1, 1, 1)))
    net.add("Conv", net.normal(4, 3, 3, 3))
    net.add("GlobalAveragePool")
    net.add("Flatten")
    return net.save(path)


@pytest.mark.parametrize("splits", [False, True])
def test_a_mean_of_shares_is_subtracted(tmp_path: Path, splits: bool) -> None:
    model = load_model(config.ModelConfig(path=network(tmp_path / "net.onnx", MEANS, splits=splits)))

    assert model.prepared_by == "file"
    assert model.input.described == "unit: resize 8×8 (stretch), RGB, scale 1/255"


@pytest.mark.parametrize(
    ("means", "divides"),
    [((123.7, 116.3, 103.5), True), ((0.5,), True), ((0.0, 0.0, 0.0), True), (MEANS, False)],
)
def test_anything_else_says_nothing_of_the_pictures(
    tmp_path: Path, means: tuple[float, ...], divides: bool
) -> None:
    path = network(tmp_path / "net.onnx", means, divides=divides)

    assert load_model(config.ModelConfig(path=path)).prepared_by == "default"


def test_a_damaged_node_is_reported_with_its_place(tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx", MEANS)
    content = onnx.load(str(path))
    del content.graph.node[0].output[:]
    onnx.save(content, str(path))

    with pytest.raises(ModelError, match=r"net\.onnx: node"):
        load_model(config.ModelConfig(path=path))


def test_what_the_config_says_takes_precedence(tmp_path: Path) -> None:
    path = network(tmp_path / "net.onnx", MEANS)

    assert load_model(config.ModelConfig(path=path, preprocess="raw")).input.scale == 1
