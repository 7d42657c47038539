"""The picture of what the hub bears."""

from bench.hub_load import Load, Window
from bench.load_picture import dot, picture


def windows(cameras: int, state: str = "two-core", count: int = 3) -> list[Window]:
    return [Window(state, 0.0, 30.0 * cameras, 600.0, 0.1, 2.0, 9.0, 20.0, 54.0)] * count


def test_each_transport_has_its_line_and_each_dot_says_what_it_cost() -> None:
    loads = [Load(cameras, 4, 30.0, curve=curve) for curve in (False, True) for cameras in (1, 8)]
    dots = [each for load in loads if (each := dot(load, windows(load.cameras)))]

    svg = picture(dots)

    assert svg.count("<polyline") == 3  # what is offered, and the two
    assert "8 cameras, CURVE × 4 workers, two-core: 240 frames/s" in svg
    assert "600 µs a frame" in svg


def test_a_dot_is_of_the_state_that_most_windows_had() -> None:
    load = Load(1, 4, 30.0)

    found = dot(load, windows(1, "two-core", 3) + windows(2, "one-core", 4) + windows(3, "disturbed", 9))

    assert found
    assert (found.state, found.fps) == ("one-core", 60)
    assert dot(load, windows(1, "disturbed", 9)) is None
