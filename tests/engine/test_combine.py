"""Arithmetic by element."""

import numpy as np
import pytest

from edged.engine.variants.elementwise import COMBINE
from edged.model import reference
from edged.model.graph import Combine
from tests.engine.lab import BLOCKS, Lab, assert_close, random

IMAGE = (2, 21, 5, 7)
SHAPES = [(IMAGE, IMAGE), (IMAGE, (2, 21, 1, 1)), ((2, 1, 5, 1), IMAGE), (IMAGE, (2, 1, 1, 7)), ((2, 21), (2, 1))]


def assert_computes(lab: Lab, kind: str, shapes: tuple[tuple[int, ...], tuple[int, ...]], block: int) -> None:
    inputs = [np.abs(random(*shape)) + np.float32(0.1) for shape in shapes]
    operator = Combine("combine", ("x", "z"), "y", kind)

    found = lab.compute(COMBINE, operator, inputs, block=block)

    assert_close(found, reference.compute(operator, *(x.astype(np.float64) for x in inputs)))


@pytest.mark.parametrize("kind", reference.COMBINATIONS)
def test_each_kind_of_two_tensors(lab: Lab, kind: str) -> None:
    assert_computes(lab, kind, SHAPES[0], block=4)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("shapes", SHAPES)
def test_two_tensors_of_shapes_that_broadcast(
    lab: Lab, shapes: tuple[tuple[int, ...], tuple[int, ...]], block: int
) -> None:
    assert_computes(lab, "subtract", shapes, block)


@pytest.mark.parametrize("is_reversed", [True, False])
@pytest.mark.parametrize("shape", [(21, 5, 7), (1, 1, 1), (21, 1, 1), (1, 5, 7)])
def test_a_constant_is_the_same_for_each_frame(lab: Lab, shape: tuple[int, ...], is_reversed: bool) -> None:
    operator = Combine("combine", ("x",), "y", "subtract", random(*shape), is_reversed)
    x = random(*IMAGE)

    assert_close(lab.compute(COMBINE, operator, [x], block=4), reference.compute(operator, x.astype(np.float64)))


@pytest.mark.parametrize("kind", ["minimum", "maximum"])
def test_a_nan_stays(lab: Lab, kind: str) -> None:
    x, z = np.full((1, 4, 1, 1), np.nan, np.float32), random(1, 4, 1, 1)

    for inputs in ([x, z], [z, x]):
        assert np.isnan(lab.compute(COMBINE, Combine("combine", ("x", "z"), "y", kind), inputs, block=4)).all()
