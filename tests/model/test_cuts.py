"""A network in two parts answers as the whole does."""

import numpy as np
import pytest

from edged.config import ModelConfig
from edged.errors import ModelError
from edged.model import reference
from edged.model.cuts import cut_after, cuts, part
from edged.model.graph import Graph
from edged.model.package import load_model


@pytest.fixture(scope="module")
def resnet() -> Graph:
    return load_model(ModelConfig(name="resnet50", size=32)).graph


def test_a_residual_network_can_be_cut_between_its_blocks_alone(resnet: Graph) -> None:
    names = [cut.after for cut in cuts(resnet)]
    assert names[:3] == ["stem.conv", "stem.pool", "stage1.block1.conv3"]
    assert not any("conv1" in name or "conv2" in name or "shortcut" in name for name in names)


@pytest.mark.parametrize("until", ["stem", "stage2", "stage3.block2"])
def test_its_parts_give_the_very_answer_of_the_whole(resnet: Graph, until: str) -> None:
    cut = cut_after(resnet, until)
    x = np.random.default_rng(0).standard_normal((2, *resnet.shapes[resnet.input])).astype(np.float32)
    between = reference.run(part(resnet, None, cut), x).reshape(2, *cut.shape)
    assert np.array_equal(reference.run(part(resnet, cut, None), between), reference.run(resnet, x))


BETWEEN_BLOCKS = {
    "mobilenetv2": ["stem", "stage2.block2.project", "stage4.block3.project", "last", "flatten"],
    "densenet121": ["stem", "stem.pool", "stage1.layer6", "transition1", "transition1.pool", "stage4.layer16"],
    "googlenet": ["conv1", "pool2", "inception3a", "inception3b", "pool3", "inception5b"],
    "mobilenetv3_small": ["block1.squeeze", "block3.project", "block10.project", "hidden"],
    "shufflenetv2": ["stem.pool", "stage2.block1", "stage3.block8", "stage4.block4"],
}
WITHIN = ("expand3", "branch", "narrow", "widen", "gate", "left", "right", "side", "grow")


@pytest.mark.parametrize("name", BETWEEN_BLOCKS)
def test_branching_networks_can_be_cut_between_their_blocks_alone(name: str) -> None:
    graph = load_model(ModelConfig(name=name, size=64)).graph

    names = [cut.after for cut in cuts(graph)]

    assert [after for after in names if after in BETWEEN_BLOCKS[name]] == BETWEEN_BLOCKS[name]
    assert not any(part in after for after in names for part in WITHIN)
    assert [cut_after(graph, after).after for after in names] == names


@pytest.mark.parametrize(("name", "until"), [("mobilenetv2", "stage4.block2"), ("mobilenetv3_small", "block4")])
def test_parts_of_a_mobilenet_give_the_very_answer_of_the_whole(name: str, until: str) -> None:
    graph = load_model(ModelConfig(name=name, size=32)).graph
    cut = cut_after(graph, until)
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32)).astype(np.float32)

    between = reference.run(part(graph, None, cut), x).reshape(1, *cut.shape)

    assert cut.after == f"{until}.project"
    assert np.array_equal(reference.run(part(graph, cut, None), between), reference.run(graph, x))


def test_a_place_where_more_than_one_tensor_crosses_is_refused_and_the_others_are_named(resnet: Graph) -> None:
    with pytest.raises(ModelError, match=r"cannot be cut after 'stage1.block1.conv1'.*stage1.block1.conv3"):
        cut_after(resnet, "stage1.block1.conv1")
