"""The last hour of a camera, minute by minute."""

import msgspec

from edged.messages import Prediction
from edged.view.watcher import History
from tests.view.published import prediction

HOUR = 60


def published(minute: float, label: str = "7", total_s: float = 0.004) -> Prediction:
    """A prediction of the camera `door`, so many minutes after 1970."""
    found = prediction(0, label)
    seconds = msgspec.structs.replace(found.seconds, total=total_s)
    return msgspec.structs.replace(found, published_at=60 * minute, seconds=seconds)


def test_a_minute_has_its_most_frequent_label_and_its_median() -> None:
    history = History()
    for label, total_s in (("7", 0.004), ("7", 0.006), ("1", 0.005), ("7", 0.1)):
        history.add(published(10.5, label, total_s))

    (minute,) = history.past("door", at=60 * 11)

    assert (minute.number, minute.predictions, minute.label, minute.share) == (10, 4, "7", 0.75)
    assert minute.median_s == 0.0055


def test_the_minute_that_is_not_over_is_left_out() -> None:
    history = History()
    history.add(published(10.5))

    assert history.past("door", at=60 * 10 + 59) == []


def test_minutes_older_than_an_hour_are_dropped() -> None:
    history = History()
    for minute in range(3 * HOUR):
        history.add(published(minute))

    numbers = [minute.number for minute in history.past("door", at=60 * 3 * HOUR)]

    assert numbers == list(range(2 * HOUR, 3 * HOUR))
    assert history.past("door", at=60 * 10 * HOUR) == []


def test_a_clock_that_is_set_back_begins_the_hour_again() -> None:
    history = History()
    for minute in (100, 101, 50, 51):
        history.add(published(minute))

    assert [minute.number for minute in history.past("door", at=60 * 52)] == [50, 51]


def test_a_camera_without_predictions_has_no_minutes() -> None:
    assert History().past("door", at=0.0) == []
