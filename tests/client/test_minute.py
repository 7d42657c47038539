"""The last minute of a camera."""

import msgspec
import pytest

from edged.client.board import LastMinute
from tests.client.statuses import MODEL, prediction


def test_frames_a_second_are_those_of_the_last_ten() -> None:
    minute = LastMinute()
    for tenth in range(300):
        minute.add(prediction(), 100 + tenth / 10)
    assert minute.fps(130.0) == pytest.approx(10.0)
    assert minute.fps(135.0) == pytest.approx(5.0)
    assert minute.fps(150.0) == 0.0


def test_the_first_frames_do_not_make_a_rate_that_nobody_has_seen() -> None:
    minute = LastMinute()
    minute.add(prediction(), 100.9)
    assert minute.fps(100.91) == 1.0
    assert LastMinute().fps(100.0) == 0.0


def test_median_and_99th_percentile_of_the_last_ten_seconds() -> None:
    minute = LastMinute()
    minute.add(prediction(total_s=9.0), 80.0)
    for hundredth in range(1, 101):
        minute.add(prediction(total_s=hundredth / 100), 100.0)
    assert minute.median_and_p99_s(101.0) == pytest.approx((0.505, 0.99))
    assert minute.median_and_p99_s(120.0) is None


def test_the_strip_has_the_most_frequent_label_of_each_second() -> None:
    minute = LastMinute()
    for label, at in (("cat", 100.0), ("dog", 100.2), ("dog", 100.9), ("cat", 102.1)):
        minute.add(prediction(label), at)
    strip = minute.strip(103.5)
    assert len(strip) == 60
    assert strip[-4:] == ("dog", None, "cat", None)
    assert minute.strip(162.5)[0] is None
    assert minute.strip(161.5)[0] == "cat"


def test_shares_and_joules_are_of_those_predictions_that_know_them() -> None:
    minute = LastMinute()
    for truth, joules in (("yes", 0.5), ("no", 1.5), (None, None)):
        minute.add(prediction("yes", truth=truth, joules=joules), 100.0)
    assert (minute.share_right(101.0), minute.joules_each(101.0)) == (0.5, 1.0)
    minute.add(prediction("no", truth="no", model=msgspec.structs.replace(MODEL, random_weights=True)), 101.0)
    assert minute.share_right(101.0) == 0.5
    assert (minute.share_right(200.0), minute.joules_each(200.0)) == (None, None)


def test_a_clock_that_steps_back_a_little_is_no_harm() -> None:
    minute = LastMinute()
    minute.add(prediction("a"), 100.5)
    minute.add(prediction("a"), 99.9)
    assert minute.fps(101.0) == 2.0
