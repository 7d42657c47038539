"""Functions of one number, by themselves and at the end of a sum."""

import numpy as np
import pytest

from edged.engine.programs import compiler_options
from edged.engine.variants.elementwise import ACTIVATE, ADD
from edged.model import reference
from edged.model.activations import FUNCTIONS, RELU, SIGMOID, Activation
from edged.model.graph import Activate, Add
from tests.engine.lab import BLOCKS, Lab, random

NUMBERS = {
    "clip": (-0.5, 1.25),
    "leaky_relu": (0.1, 0.0),
    "elu": (0.7, 0.0),
    "selu": (1.67, 1.05),
    "hard_sigmoid": (0.2, 0.5),
}
POSITIVE = {"log", "sqrt", "reciprocal"}  # of what is greater than 0


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_each_is_what_the_reference_computes(lab: Lab, kind: str) -> None:
    assert_computes(lab, kind, block=4)


@pytest.mark.parametrize("block", BLOCKS)
def test_padding_stays_zero(lab: Lab, block: int) -> None:
    assert_computes(lab, "exp", block)  # 1 for the zeros beyond the last channel


def assert_computes(lab: Lab, kind: str, block: int) -> None:
    operator = Activate("activate", ("x",), "y", Activation(kind, *NUMBERS.get(kind, (0.0, 0.0))))
    x = 3 * random(2, 21, 5, 7)
    x = np.abs(x) + np.float32(0.1) if kind in POSITIVE else x

    found = lab.compute(ACTIVATE, operator, [x], block=block)

    expected = reference.compute(operator, x.astype(np.float64))
    assert np.abs(found - expected).max() <= 3e-6 * np.abs(expected).max()


@pytest.mark.parametrize("block", [1, 8])
def test_a_sigmoid_is_exact_to_a_few_units_in_the_last_place_also_where_it_nears_0_and_1(
    lab: Lab, block: int
) -> None:
    x = np.linspace(-87, 100, 8 * 4096, dtype=np.float32).reshape(1, 8, 64, 64)

    found = lab.compute(ACTIVATE, Activate("activate", ("x",), "y", SIGMOID), [x], block=block)

    is_own = "-DCLANG_BUILTINS" in compiler_options(lab.device)
    units = 4 if is_own else 4 + np.abs(x)  # a GPU rounds x · log2 e, which is a share of the power then
    units_off = np.abs(found * (1 + np.exp(-x.astype(np.float64))) - 1) / np.finfo(np.float32).eps
    assert (units_off < units).all()


@pytest.mark.parametrize("kind", ["sigmoid", "silu"])
def test_numbers_whose_power_overflows_end_at_the_limits_of_a_sigmoid(lab: Lab, kind: str) -> None:
    x = np.array([-1e6, -1000, -100, 100, 1000, 1e6], np.float32).reshape(1, 6, 1, 1)

    found = lab.compute(ACTIVATE, Activate("activate", ("x",), "y", Activation(kind)), [x], block=8)

    limits = np.array([0, 0, 0, 1, 1, 1], np.float32) * (1 if kind == "sigmoid" else x.ravel())
    assert np.allclose(found.ravel(), limits, rtol=1e-6, atol=1e-30)


@pytest.mark.deep
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_nan_stays(lab: Lab, kind: str) -> None:
    x = np.full((1, 4, 1, 1), np.nan, np.float32)
    operator = Activate("activate", ("x",), "y", Activation(kind, *NUMBERS.get(kind, (0.0, 0.0))))

    assert np.isnan(lab.compute(ACTIVATE, operator, [x], block=4)).all()


def test_what_is_below_zero_goes_with_relu(lab: Lab) -> None:
    x = random(2, 21, 5, 7)

    found = lab.compute(ACTIVATE, Activate("relu", ("x",), "y", RELU), [x], block=4)

    assert np.array_equal(found, np.maximum(x, 0))


@pytest.mark.parametrize("kind", [kind for kind in FUNCTIONS if Activation(kind, -1.0, 1.0).keeps_zero])
def test_each_that_keeps_zero_can_end_a_sum(lab: Lab, kind: str) -> None:
    add = Add("add", ("x", "z"), "y", Activation(kind, -0.5, 1.25))
    inputs = [np.abs(random(1, 6, 3, 4)), np.abs(random(1, 6, 3, 4))]

    found = lab.compute(ADD, add, inputs, block=4)

    expected = reference.compute(add, *(x.astype(np.float64) for x in inputs))
    assert np.abs(found - expected).max() <= 3e-6 * np.abs(expected).max()
