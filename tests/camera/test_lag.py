"""How late pictures are, by their arrivals and stamps."""

from random import Random

import pytest

from edged.camera.sources.lag import Lag
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
    assert late_ms(lag, 1000, 1500) == 460


def test_after_a_stall_each_picture_is_as_late_as_it_was_held_up() -> None:
    lag = Lag()
    late_ms(lag, 1000, 1000)

    assert [late_ms(lag, position, 2000) for position in (1040, 1520, 2000)] == [960, 480, 0]


def test_a_stream_that_says_no_positions_is_never_late() -> None:
    assert [late_ms(Lag(), 0, read) for read in (0, 1000)] == [0, 0]


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.92, 0.995, 1.005, 1.09, 1.25, 2.0, 3.0])
@pytest.mark.parametrize("jitter_ms", [0, 15])
def test_a_camera_whose_stamps_are_not_of_its_real_rate_is_never_late(rate: float, jitter_ms: int) -> None:
    lag = Lag()
    random = Random(1)  # noqa: S311

    reads = (rate * position + random.uniform(0, jitter_ms) for position in range(40, 100_000, 40))
    assert max(late_ms(lag, 40 * number, read) for number, read in enumerate(reads, 1)) == 0


@pytest.mark.parametrize("rate", [0.8, 1.0, 1.25])
def test_pictures_that_a_network_held_back_are_late_by_the_real_rate_of_the_stamps(rate: float) -> None:
    lag = Lag()
    for position in range(40, 10_040, 40):
        late_ms(lag, position, rate * position)

    held_up = [late_ms(lag, position, rate * 11_040) for position in range(10_040, 11_080, 40)]
    assert held_up[0] == pytest.approx(rate * 1000, abs=25)
    assert held_up == sorted(held_up, reverse=True)
    assert held_up[-1] < 50
    assert [late_ms(lag, position, rate * position) < 100 for position in range(11_080, 30_000, 40)].count(
        False
    ) == 0


def test_a_camera_whose_rate_changes_is_late_for_no_picture() -> None:
    """As at night, with stamps that go on as by day."""
    lag = Lag()
    for position in range(40, 10_040, 40):
        late_ms(lag, position, position)
    assert max(late_ms(lag, 10_000 + position, 10_000 + 2 * position) for position in range(40, 60_000, 40)) == 0


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
