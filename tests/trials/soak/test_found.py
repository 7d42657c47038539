"""What the soak of a detector complains about."""

import msgspec

from edged.client import Prediction
from edged.messages import Box
from tests.messages.examples import PREDICTION
from trials.soak.found import CLEAR, wrong_boxes, wrong_states, wrong_tracks

CAT = Box(label="cat", index=0, score=0.9, box=(0.1, 0.2, 0.3, 0.4), track=1)
DOG = Box(label="dog", index=1, score=0.8, box=(0.5, 0.2, 0.7, 0.4), track=2)
FAINT = Box(label="cow", index=2, score=CLEAR - 0.1, box=(0.5, 0.5, 0.7, 0.7))
PICTURE = "a"


def saw(*boxes: Box) -> Prediction:
    return msgspec.structs.replace(PREDICTION, truth=PICTURE, boxes=boxes)


def test_the_same_boxes_in_another_order_and_rounded_otherwise_are_right() -> None:
    moved = msgspec.structs.replace(CAT, score=0.9005, box=(0.1005, 0.2, 0.3, 0.4), track=7)
    assert not wrong_boxes([saw(DOG, moved), saw(CAT, DOG, FAINT)], {PICTURE: (CAT, DOG)})


def test_a_box_too_few_too_many_or_elsewhere_is_a_complaint() -> None:
    elsewhere = msgspec.structs.replace(DOG, box=(0.4, 0.2, 0.7, 0.4))
    for found in (saw(CAT), saw(CAT, DOG, msgspec.structs.replace(FAINT, score=0.9)), saw(CAT, elsewhere)):
        assert "other boxes" in "".join(wrong_boxes([found], {PICTURE: (CAT, DOG)}))


def test_predictions_without_boxes_and_pictures_never_seen_are_complaints() -> None:
    without = msgspec.structs.replace(PREDICTION, truth="b", boxes=None)
    complaints = wrong_boxes([without], {PICTURE: (CAT,)})
    assert ["without boxes" in each or "without any prediction: ['a']" in each for each in complaints] == [
        True
    ] * 2


def test_two_boxes_of_a_picture_with_one_number_are_a_complaint() -> None:
    assert not wrong_tracks([saw(CAT, DOG), saw(DOG, FAINT)])
    assert "one number" in wrong_tracks([saw(CAT, msgspec.structs.replace(DOG, track=1))])[0]
    assert wrong_tracks([saw(FAINT)]) == ["no box has ever had a number"]


def test_a_state_that_changes_to_itself_or_never_is_a_complaint() -> None:
    there, gone, again = (("boot", "door", "visitor", state) for state in ("present", "absent", "present"))
    other_life = ("later", "door", "visitor", "present")
    assert not wrong_states([there, gone, again, other_life], ["visitor"])
    assert "to itself" in wrong_states([there, gone, again, again], ["visitor"])[0]
    assert wrong_states([there, other_life], ["visitor"]) == ["states that never changed: ['visitor']"]
