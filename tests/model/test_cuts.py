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


def test_a_place_where_more_than_one_tensor_crosses_is_refused_and_the_others_are_named(resnet: Graph) -> None:
    with pytest.raises(ModelError, match=r"cannot be cut after 'stage1.block1.conv1'.*stage1.block1.conv3"):
        cut_after(resnet, "stage1.block1.conv1")
