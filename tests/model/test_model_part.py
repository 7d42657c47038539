"""What a worker runs of a model, and what the hub hears of it."""

from dataclasses import replace

import numpy as np
import pytest

from edged.config import ModelConfig as Wanted
from edged.errors import ModelError
from edged.messages import Part
from edged.model.cuts import cuts
from edged.model.graph import Softmax
from edged.model.model_part import part_of, whole_model
from edged.model.package import Model, load_model
from edged.model.shapes import make_graph
from tests.cli.command import DEVICES
from tests.runtime.answers import answer


@pytest.fixture(scope="module")
def digits() -> Model:
    return load_model(Wanted(name="digits"))


@pytest.mark.deep
@pytest.mark.parametrize("device", DEVICES)
def test_wherever_a_model_is_cut_its_parts_answer_as_the_whole_does(digits: Model, device: str) -> None:
    images = whole_model(digits).noise(2)
    expected = answer(digits, whole_model(digits), device, images)
    places = list(cuts(digits.graph))
    assert len(places) > 1
    for cut in places:
        between = answer(digits, part_of(digits, None, cut.after), device, images)
        outputs = answer(digits, part_of(digits, cut.after, None), device, between)
        assert np.array_equal(outputs, expected), cut.after


def test_a_part_behind_the_features_has_none(digits: Model) -> None:
    graph = digits.graph
    shares = Softmax("shares", (graph.output,), "shares")
    operators = (*graph.operators, shares)
    ending = replace(digits, graph=make_graph(graph.name, graph.input, graph.shapes[graph.input], operators))

    part = part_of(ending, list(cuts(ending.graph))[-1].after, None)

    assert whole_model(ending).features is not None
    assert [type(operator) for operator in part.graph.operators] == [Softmax]
    assert part.features is None
    assert answer(ending, part, "numpy", part.noise(2)).shape == (2, 11)


def test_a_part_says_where_it_begins_and_ends_and_how_much_crosses_there(digits: Model) -> None:
    assert part_of(digits, "layer.3", "layer.7").described == Part(
        begin="layer.3.shortcut.norm", end="layer.7.shortcut.norm", values_in=48 * 15 * 15, values_out=128 * 4 * 4
    )
    assert part_of(digits, None, "layer.3").described == Part(end="layer.3.shortcut.norm", values_out=48 * 15 * 15)
    assert whole_model(digits).described is None


def test_the_noise_of_a_part_behind_a_cut_is_what_a_relu_leaves_and_always_the_same(digits: Model) -> None:
    part = part_of(digits, "layer.3", None)
    noise = part.noise(2)
    assert noise.shape == (2, 48, 15, 15)
    assert noise.min() >= 0
    assert np.array_equal(noise, part.noise(2))
    assert np.isfinite(part.truth(noise)).all()


def test_parts_that_come_in_another_order_than_the_networks_are_refused(digits: Model) -> None:
    with pytest.raises(ModelError, match=r"nothing between 'layer.7' and 'layer.3'"):
        part_of(digits, "layer.7", "layer.3")
    with pytest.raises(ModelError, match=r"nothing between 'layer.3' and 'layer.3'"):
        part_of(digits, "layer.3", "layer.3")
