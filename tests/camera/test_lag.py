"""Pictures of a made-up stream: 40 ms apart by the camera's clock, read when the test says."""

import pytest

from edged.camera.sources.stream import Lag
from edged.errors import CameraError

MS = 1_000_000


def late_ms(lag: Lag, position_ms: int, read_ms: float) -> int:
    return lag.late_ns(position_ms, round((5000 + read_ms) * MS)) // MS


def test_pictures_on_time_are_not_late_whatever_the_clocks_say() -> None:
    lag = Lag()

    assert [late_ms(lag, position, position) for position in range(40, 2000, 40)] == [0] * 49


def test_the_first_pictures_of_a_connection_may_be_old_ones() -> None:
    lag = Lag()

    assert [late_ms(lag, position, 1000) for position in range(40, 1000, 40)] == [0] * 24
    assert late_ms(lag, 1000, 1500) == 455


def test_after_a_stall_each_picture_is_as_late_as_it_was_held_up() -> None:
    lag = Lag()
    late_ms(lag, 1000, 1000)

    assert [late_ms(lag, position, 2000) for position in (1040, 1520, 2000)] == [950, 470, 0]


def test_a_stream_that_says_no_positions_is_never_late() -> None:
    assert [late_ms(Lag(), 0, read) for read in (0, 1000)] == [0, 0]


def test_a_camera_whose_clock_is_half_a_percent_slow_is_never_late() -> None:
    lag = Lag()

    assert max(late_ms(lag, position, 1.005 * position) for position in range(40, 100_000, 40)) == 0


def test_pictures_that_stay_late_are_a_failure() -> None:
    lag = Lag()
    late_ms(lag, 40, 40)

    late = [late_ms(lag, position, position + 800) for position in range(80, 2240, 40)]
    assert min(late) > 700
    with pytest.raises(CameraError, match=r"lag behind by 0\.\d s"):
        late_ms(lag, 2280, 3080)


@pytest.mark.parametrize(("position_ms", "seconds"), [(21_200_080, 20_000), (1_215_080, 15), (80, -1200)])
def test_a_clock_that_jumps_is_a_failure(position_ms: int, seconds: int) -> None:
    lag = Lag()
    late_ms(lag, 1_200_040, 40)  # it has been on for twenty minutes
    with pytest.raises(CameraError, match=rf"^its clock jumps by {seconds} s$"):
        late_ms(lag, position_ms, 80)
