"""Pictures and their labels come on two connections."""

import msgspec

from edged.view.watcher import ALONE_S, KEPT, Shots
from tests.view.published import JPEG, picture, prediction


def shown(shots: Shots, now_s: float = 0.0) -> tuple[int, str | None] | None:
    """Frame and label."""
    shot = shots.current(now_s)
    if shot is None:
        return None
    return shot.picture.header.frame, shot.prediction.top[0].label if shot.prediction else None


def test_a_picture_is_shown_once_its_prediction_is_there() -> None:
    shots = Shots()
    shots.add_picture(picture(5), 0.0)
    assert shown(shots) is None
    shots.add_prediction(prediction(5, "cat"))
    assert shown(shots) == (5, "cat")


def test_a_prediction_may_come_first() -> None:
    shots = Shots()
    shots.add_prediction(prediction(5, "cat"))
    shots.add_prediction(prediction(6, "dog"))
    shots.add_picture(picture(5), 0.0)
    assert shown(shots) == (5, "cat")


def test_the_picture_before_stays_until_then() -> None:
    shots = Shots()
    shots.add_prediction(prediction(5, "cat"))
    shots.add_picture(picture(5), 0.0)
    shots.add_picture(picture(8), 0.0)
    shots.add_prediction(prediction(6, "dog"))
    assert shown(shots) == (5, "cat")


def test_a_frame_that_was_dropped_is_shown_without_a_label_as_soon_as_a_later_one_is_predicted() -> None:
    shots = Shots()
    shots.add_picture(picture(5), 0.0)
    shots.add_prediction(prediction(6, "dog"))
    assert shown(shots) == (5, None)


def test_pictures_go_on_where_nothing_is_predicted() -> None:
    shots = Shots()
    shots.add_picture(picture(5), 0.0)
    assert shown(shots, ALONE_S / 2) is None
    assert shown(shots, 2 * ALONE_S) == (5, None)
    shots.add_picture(picture(6), 3.0)
    shots.add_picture(picture(7), 3.1)
    assert shown(shots, 3.1) == (6, None)


def test_a_camera_that_counts_anew_does_not_get_the_labels_of_old_frames() -> None:
    shots = Shots()
    shots.add_prediction(prediction(5, "cat"))
    again = picture(9)
    shots.add_picture(type(again)(msgspec.structs.replace(again.header, frame=5), again.jpeg), 0.0)
    assert shown(shots) is None


def test_the_last_pictures_can_be_fetched_and_no_others() -> None:
    shots = Shots()
    for frame in range(20):
        shots.add_prediction(prediction(frame))
        shots.add_picture(picture(frame), 0.0)
    last = shots.current(0.0)
    assert last
    assert shots.jpeg(str(last.number)) == JPEG + bytes([19])
    assert shots.jpeg(str(last.number - KEPT + 1)) == JPEG + bytes([20 - KEPT])
    assert shots.jpeg(str(last.number - KEPT)) is None
