"""The convolution for CPUs with wide vectors."""

import pytest
from hypothesis import HealthCheck, given, settings

from edged.engine.variants.conv_vector import CONV_VECTOR
from edged.engine.variants.tiles import together
from edged.model.activations import RELU
from tests.engine.lab import Lab, assert_close
from tests.engine.shapes import Case, case, cases

STEM = case((3, 20), (31, 23), (7, 7), block=16, input_block=1, strides=(2, 2), pads=(3, 3, 3, 3), activation=RELU)
TILED_OVER_THE_EDGE = case((16, 16), (37, 41), block=16, pads=(1, 1, 1, 1), residual=True, activation=RELU)
FAR_FROM_CACHE = case((70, 33), (5, 7), block=16, pads=(1, 1, 1, 1), frames=3)
ONE_TILE = case((40, 40), (4, 4), block=16, pads=(1, 1, 1, 1))
DEPTHWISE = case((40, 40), (9, 9), block=16, pads=(1, 1, 1, 1), groups=40)
PIXEL_TO_PIXEL = case((33, 70), (1, 1), (1, 1), block=8)


@pytest.mark.deep
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(blocks=(4, 8, 16)))
def test_any_convolution_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_VECTOR)


@pytest.mark.parametrize(
    "case",
    [STEM, TILED_OVER_THE_EDGE, FAR_FROM_CACHE, ONE_TILE, DEPTHWISE, PIXEL_TO_PIXEL],
    ids=["stem", "tiled", "prefetched", "one-tile", "depthwise", "1x1"],
)
def test_what_networks_are_made_of_equals_the_reference(lab: Lab, case: Case) -> None:
    case.check(lab, CONV_VECTOR)


@pytest.mark.parametrize(
    ("outs", "height", "width", "run"), [(1, 1, 1, 5), (1, 1, 7, 2), (2, 3, 5, 1), (3, 5, 6, 4)]
)
def test_every_tile_gives_the_same(lab: Lab, outs: int, height: int, width: int, run: int) -> None:
    tile = {
        "OUTS": outs,
        "TILE_H": height,
        "TILE_W": width,
        "TILE_RUN": run,
        "PREFETCH": 1,
        "AHEAD": 8,
        "SHARE": 1,
        "NEXT_PIXELS": 1,
    }
    conv = case((17, 58), (8, 9), block=16, pads=(1, 1, 1, 1))

    found = lab.compute(CONV_VECTOR, conv.conv, conv.inputs, block=16, parameters=tile)

    assert_close(found, conv.expected())


def test_a_work_item_computes_as_many_tiles_as_leave_work_for_all_cores(lab: Lab) -> None:
    cores = lab.device.compute_units

    def run(side: int, channels: int) -> int:
        shape = case((8, channels), (side, side), (1, 1), block=8)
        site = lab.site(shape.conv, shape.inputs, block=8)
        return together(site, 1, (1, 4))

    assert run(4, 8) == 1  # four tiles: not enough for 32 work-items a core
    assert run(64, 8) == min(16, 64 * 16 // (32 * cores))
    assert run(64, 8 * cores) == 16  # a whole row
