"""Winograd's convolution for GPUs with few registers."""

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edged.engine.variants.conv_frequencies import CONV_FREQUENCIES
from edged.model.activations import RELU
from tests.engine.lab import CLOSE_BY_WINOGRAD, Lab, assert_close
from tests.engine.shapes import Case, case, of_tiles

SAME = (1, 1, 1, 1)


@dataclass(frozen=True, eq=False)
class Tiled:
    """A convolution, the size of a tile, and the shape in which frequencies are multiplied."""

    case: Case
    output: int
    tile: int = 1
    outs: int = 1

    def check(self, lab: Lab, *, half_weights: bool = False, tolerance: float = CLOSE_BY_WINOGRAD) -> None:
        found = lab.compute(
            CONV_FREQUENCIES,
            self.case.conv,
            self.case.inputs,
            block=self.case.block,
            parameters={"OUTPUT": self.output, "TILE": self.tile, "OUTS": self.outs, "GROUP": 16},
            half_weights=half_weights,
        )
        assert_close(found, self.case.expected(), tolerance)


@st.composite
def tiled(draw: st.DrawFn) -> Tiled:
    """Up to 40 channels, tiles of any size."""
    convolution, output, tiles = draw(of_tiles(most_channels=40, blocks=(4, 8)))
    return Tiled(convolution, output, draw(st.sampled_from([t for t in (1, 2, 3, 4, 8) if t <= tiles])))


@pytest.mark.deep
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiled=tiled())
def test_any_window_of_3_by_3_equals_the_reference(lab: Lab, tiled: Tiled) -> None:
    tiled.check(lab)


@pytest.mark.parametrize(
    "tiled",
    [
        Tiled(case((16, 32), (30, 30), block=4, pads=SAME, activation=RELU), 4, tile=8),
        Tiled(case((32, 16), (8, 8), block=4, pads=SAME, residual=True), 2, tile=4, outs=2),
        Tiled(case((20, 12), (15, 13), block=8, pads=SAME, frames=2), 4, tile=3),
        Tiled(case((6, 10), (7, 5), block=4, pads=(0, 1, 2, 1), frames=2), 2, tile=4),
    ],
    ids=["wide-tiles", "two blocks at once", "moved back", "channels that fill no block"],
)
def test_what_networks_are_made_of_equals_the_reference(lab: Lab, tiled: Tiled) -> None:
    tiled.check(lab)


def test_weights_stored_as_half_cost_accuracy_alone(lab: Lab) -> None:
    conv = case((32, 32), (15, 15), block=8, pads=SAME)

    Tiled(conv, 2, tile=3).check(lab, half_weights=True, tolerance=1e-3)
