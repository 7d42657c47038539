"""Convolution of each channel by itself."""

from copy import copy
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edged.engine.selection import Rules
from edged.engine.variants.conv_depthwise import CONV_DEPTHWISE, GPU_TILES
from tests.engine.lab import Lab, assert_close
from tests.engine.shapes import BLOCKS, ENDINGS, Case, case


@st.composite
def depthwise(draw: st.DrawFn) -> Case:
    """1 to 70 channels, any window."""
    channels = draw(st.integers(1, 70))
    return case(
        (channels, channels),
        draw(st.tuples(st.integers(5, 19), st.integers(5, 19))),
        draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        groups=channels,
        frames=draw(st.integers(1, 3)),
        block=draw(st.sampled_from(BLOCKS)),
        residual=draw(st.booleans()),
        activation=draw(st.sampled_from(ENDINGS)),
        strides=draw(st.tuples(st.integers(1, 3), st.integers(1, 3))),
        pads=draw(st.tuples(*[st.integers(0, 3)] * 4)),
        dilations=draw(st.tuples(st.integers(1, 2), st.integers(1, 2))),
    )


@pytest.mark.deep
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=depthwise())
def test_any_window_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_DEPTHWISE)


@pytest.mark.parametrize("strides", [(2, 1), (1, 2), (2, 4)])
@pytest.mark.parametrize("dilation", [1, 2])
def test_neighbouring_pixels_at_a_time_and_several_rows_give_the_same(
    lab: Lab, strides: tuple[int, int], dilation: int
) -> None:
    conv = case(
        (10, 10),
        (11, 13),
        (5, 3),
        strides=strides,
        pads=(2, 2, 1, 3),
        dilations=(1, dilation),
        groups=10,
        frames=2,
        residual=True,
    )

    for tile, band in ((1, 1), (2, 2), (4, 5)):
        found = lab.compute(CONV_DEPTHWISE, conv.conv, conv.inputs, parameters={"TILE": tile, "BAND": band})

        assert_close(found, conv.expected())


def test_a_gpu_computes_the_same_although_its_compiler_does_not_know_the_rows(lab: Lab) -> None:
    gpu = copy(lab)
    gpu.device = replace(lab.device, kind="gpu")
    conv = case((10, 10), (11, 13), (5, 3), strides=(2, 1), pads=(2, 0, 1, 1), groups=10, frames=2, residual=True)

    for tile in GPU_TILES:
        found = gpu.compute(CONV_DEPTHWISE, conv.conv, conv.inputs, parameters={"TILE": tile, "BAND": 1})

        assert_close(found, conv.expected())


def test_it_is_chosen_where_there_are_as_many_groups_as_channels(lab: Lab) -> None:
    for groups, chosen in ((12, True), (6, False), (1, False)):
        conv = case((12, 12), (8, 8), pads=(1, 1, 1, 1), groups=groups)

        assert (Rules().choose(lab.site(conv.conv, conv.inputs)).variant is CONV_DEPTHWISE) == chosen
