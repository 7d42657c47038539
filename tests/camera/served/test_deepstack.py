"""DeepStack's protocol as values: forms, and answers in pixels."""

import pytest

from edged.camera.served.deepstack import detection, read_form, scene
from edged.camera.served.refusals import RefusedRequestError
from edged.camera.served.sent_pictures import AnsweredPicture
from edged.messages import Box, FrameAnswer, Label
from tests.http_requests import FORM, form

CAT = Box(label="cat", index=0, score=0.9, box=(0.1, 0.2, 0.5, 1.0))
DOG = Box(label="dog", index=1, score=0.4, box=(0.0, 0.0, 0.004, 0.006))


def found(boxes: tuple[Box, ...] | None = None, top: tuple[Label, ...] = ()) -> AnsweredPicture:
    return AnsweredPicture(FrameAnswer(frame=0, captured_at=0.0, boxes=boxes, top=top), width=200, height=100)


def test_a_form_has_a_picture_and_may_have_more() -> None:
    read = read_form(FORM, form(b"\r\n--jpeg", min_confidence="0.5", api_key="k"))

    assert read.picture == b"\r\n--jpeg"
    assert read.min_confidence == 0.5
    assert read.key == "k"
    assert read_form(FORM, form(b"jpeg")).min_confidence == 0


def test_a_file_of_another_name_is_the_picture_if_there_is_no_image() -> None:
    assert read_form(FORM, form(b"jpeg", name="file")).picture == b"jpeg"


@pytest.mark.parametrize(
    ("content_type", "body", "reason", "text"),
    [
        ("", form(b"jpeg"), "parts", "expected multipart/form-data, found 'no Content-Type'"),
        ("application/json", b"{}", "parts", "expected multipart/form-data, found 'application/json'"),
        ("multipart/form-data", form(b"jpeg"), "parts", "a form that cannot be read"),
        (FORM, b"", "parts", "expected a form with a file 'image'"),
        (FORM, b"no form", "parts", "a form that cannot be read"),
        (FORM, form(b"jpeg")[:-20], "parts", "expected a form with a file 'image'"),
        (FORM, form(b""), "parts", "expected a form with a file 'image'"),
        (FORM, form(b"jpeg", **{f"f{n}": "" for n in range(40)}), "parts", "expected a form of at most 32 parts"),
        (FORM, form(b"jpeg", min_confidence="much"), "values", "min_confidence from 0 to 1, found 'much'"),
        (FORM, form(b"jpeg", min_confidence="nan"), "values", "min_confidence from 0 to 1, found 'nan'"),
    ],
)
def test_what_is_no_form_with_a_picture_is_refused(content_type: str, body: bytes, reason: str, text: str) -> None:
    with pytest.raises(RefusedRequestError) as refused:
        read_form(content_type, body)

    assert text in str(refused.value)
    assert refused.value.reason == reason


def test_boxes_are_in_whole_pixels_and_reach_the_confidence() -> None:
    answer = detection(found((CAT, DOG)), min_confidence=0.4, seconds=0.0123)

    assert answer["success"] is True
    assert answer["predictions"] == [
        {"label": "cat", "confidence": 0.9, "x_min": 20, "y_min": 20, "x_max": 100, "y_max": 100},
        {"label": "dog", "confidence": 0.4, "x_min": 0, "y_min": 0, "x_max": 1, "y_max": 1},
    ]
    assert answer["message"] == "Found cat, dog"
    assert answer["processMs"] == 12
    assert detection(found((CAT, DOG)), 0.5, 0.0)["count"] == 1
    assert detection(found(()), 0.5, 0.0)["message"] == "No objects found"


def test_a_scene_is_the_best_label() -> None:
    labels = (Label(label="kitchen", index=3, score=0.75), Label(label="hall", index=1, score=0.25))

    answer = scene(found(top=labels), 0.0)

    assert (answer["label"], answer["confidence"]) == ("kitchen", 0.75)
    assert scene(found(), 0.0)["label"] == ""
