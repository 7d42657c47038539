"""The lines of `edged subscribe`, for people."""

from edged.cli.subscribe import line
from edged.messages import Box
from tests.client.statuses import prediction


def box(label: str, track: int | None = None) -> Box:
    return Box(label=label, index=0, score=0.8, box=(0.0, 0.0, 0.1, 0.1), track=track)


def test_a_classifiers_line_has_its_labels() -> None:
    assert line(prediction("open")).endswith("ms  open 90%")


def test_a_detectors_line_has_its_boxes_with_their_numbers() -> None:
    assert line(prediction(boxes=(box("person", 3), box("car")))).endswith("ms  person #3 80%  car 80%")
    assert line(prediction(boxes=(box("car"),) * 8)).endswith("car 80%  and 2 more")
    assert line(prediction(boxes=())).endswith("ms  nothing found")
