"""The picture of what the hub bears."""

from dataclasses import asdict

from tests.perf.hub_load import Borne, Load
from tests.perf.load_picture import picture


def test_each_transport_has_its_line_and_each_dot_says_what_it_cost() -> None:
    rows = [
        asdict(Borne(Load(cameras, 4, 30.0, curve=curve), 30.0 * cameras, 600.0, 0.1, 2.0, 9.0, 54.0))
        for curve in (False, True)
        for cameras in (1, 8)
    ]

    svg = picture(rows)

    assert svg.count("<polyline") == 3  # what is offered, and the two
    assert "8 cameras, CURVE × 4 workers: 240 frames/s" in svg
    assert "600 µs a frame" in svg
