"""The convolution with many work-items, for any device."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from edged.engine.layout import Element
from edged.engine.variants.conv_general import CONV_GENERAL
from edged.model.activations import RELU
from tests.engine.lab import Lab, assert_close
from tests.engine.records import BOARD, SITE
from tests.engine.shapes import Case, case, cases


@pytest.mark.deep
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_any_convolution_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_GENERAL)


@pytest.mark.deep
@pytest.mark.parametrize(("tile", "outs", "group"), [(1, 1, 7), (2, 3, 16), (7, 1, 64), (8, 2, 1), (3, 5, 48)])
@pytest.mark.parametrize("input_block", [1, 4])
def test_every_shape_of_a_work_item_gives_the_same(
    lab: Lab, tile: int, outs: int, group: int, input_block: int
) -> None:
    conv = case((18, 19), (9, 8), block=4, pads=(1, 1, 1, 1), frames=2, residual=True, activation=RELU)

    found = lab.compute(
        CONV_GENERAL,
        conv.conv,
        conv.inputs,
        input_block=input_block,
        parameters={"TILE": tile, "OUTS": outs, "GROUP": group},
    )

    assert_close(found, conv.expected())


@pytest.mark.parametrize("block", [4, 8])
def test_three_channels_of_a_block_of_four_are_all_that_is_multiplied(lab: Lab, block: int) -> None:
    case((3, 10), (9, 8), (6, 6), block=block, input_block=4, pads=(2, 2, 2, 2), strides=(2, 2)).check(
        lab, CONV_GENERAL
    )


def test_no_work_item_is_larger_than_the_image_or_mixes_groups(lab: Lab) -> None:
    conv = case((6, 10), (5, 3), (1, 1), groups=2)

    found = CONV_GENERAL.parameters(lab.site(conv.conv, conv.inputs))

    assert {parameters["TILE"] for parameters in found} == {1, 2}
    assert {parameters["OUTS"] for parameters in found} == {1}


@pytest.mark.parametrize(
    ("gpu", "tile"),
    [
        ("Mali-T620 (Panfrost)", (4, 1)),
        ("Mali-T860", (4, 1)),
        ("Mali-G52 (Panfrost)", (4, 2)),
        ("Mali-G610 r0p0", (4, 2)),
        ("V3D 4.2.14.0", (4, 1)),
        ("NVIDIA H200", (4, 2)),
    ],
)
def test_the_first_tile_is_one_that_the_registers_of_a_gpu_hold(gpu: str, tile: tuple[int, int]) -> None:
    many = replace(SITE.output, channels=64, height=56, width=56)  # work-items
    site = replace(SITE, device=replace(BOARD, name=gpu), output=many)

    first = CONV_GENERAL.parameters(site)[0]

    assert (first["TILE"], first["OUTS"]) == tile


def test_of_blocks_of_eight_halves_the_registers_hold_three_pixels() -> None:
    many = replace(SITE.output, channels=64, height=56, width=56, block=8, element=Element.FLOAT16)
    site = replace(SITE, device=replace(BOARD, name="Mali-G610 r0p0"), output=many)

    first = CONV_GENERAL.parameters(site)[0]

    assert (first["TILE"], first["OUTS"]) == (3, 1)
