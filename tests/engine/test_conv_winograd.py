"""Winograd's convolution."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.engine.variants.conv_winograd import CONV_WINOGRAD
from edged.engine.variants.variant import Site
from edged.model.activations import RELU
from edged.model.graph import Conv
from tests.engine.lab import CLOSE_BY_WINOGRAD, Lab, assert_close, random
from tests.engine.shapes import Case, case, of_tiles

SAME = (1, 1, 1, 1)


@dataclass(frozen=True, eq=False)
class Tiled:
    """A convolution, and the tiles to compute it with."""

    case: Case
    output: int
    tiles: int

    def check(self, lab: Lab, *, half_weights: bool = False, tolerance: float = CLOSE_BY_WINOGRAD) -> None:
        found = lab.compute(
            CONV_WINOGRAD,
            self.case.conv,
            self.case.inputs,
            block=self.case.block,
            parameters={"OUTPUT": self.output, "TILES": self.tiles},
            half_weights=half_weights,
        )
        assert_close(found, self.case.expected(), tolerance)


@st.composite
def tiled(draw: st.DrawFn) -> Tiled:
    """Up to 70 channels, any number of tiles."""
    convolution, output, tiles = draw(of_tiles(most_channels=70, blocks=(4, 8, 16)))
    return Tiled(convolution, output, draw(st.integers(1, min(tiles, 30))))


@pytest.mark.deep
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiled=tiled())
def test_any_window_of_3_by_3_equals_the_reference(lab: Lab, tiled: Tiled) -> None:
    tiled.check(lab)


@pytest.mark.parametrize(
    "tiled",
    [
        Tiled(case((64, 64), (30, 30), block=16, pads=SAME, activation=RELU), 4, 16),
        Tiled(case((256, 64), (8, 8), block=16, pads=SAME, residual=True), 2, 16),
        Tiled(case((48, 48), (15, 15), block=8, pads=SAME, frames=2), 4, 5),
    ],
    ids=["wide-tiles", "deep", "moved-back"],
)
def test_what_networks_are_made_of_equals_the_reference(lab: Lab, tiled: Tiled) -> None:
    tiled.check(lab)


@pytest.mark.deep
@pytest.mark.parametrize(("output", "tolerance"), [(2, 1e-3), (4, 4e-3)])
def test_weights_stored_as_half_cost_accuracy_alone(lab: Lab, output: int, tolerance: float) -> None:
    conv = case((64, 64), (15, 15), block=16, pads=SAME)

    Tiled(conv, output, 8).check(lab, half_weights=True, tolerance=tolerance)


SMALL = Conv("conv", ("x",), "y", random(16, 16, 3, 3), random(16), pads=SAME)


@pytest.mark.parametrize(
    ("conv", "size"),
    [
        (replace(SMALL, strides=(2, 2)), (8, 8)),
        (replace(SMALL, dilations=(2, 2), pads=(2, 2, 2, 2)), (8, 8)),
        (replace(SMALL, groups=2, weight=random(16, 8, 3, 3)), (8, 8)),
        (replace(SMALL, weight=random(16, 16, 1, 1), pads=(0, 0, 0, 0)), (8, 8)),
        (SMALL, (1, 8)),
    ],
    ids=["strided", "dilated", "grouped", "1x1", "no room for a tile"],
)
def test_it_refuses_what_it_cannot_compute(device: Device, conv: Conv, size: tuple[int, int]) -> None:
    x = Tensor("x", 1, 16, *size, block=16)

    assert CONV_WINOGRAD.can_compute(Site(SMALL, (replace(x, height=8, width=8),), x, device)) == (size == (8, 8))
    assert not CONV_WINOGRAD.can_compute(Site(conv, (x,), x, device))
