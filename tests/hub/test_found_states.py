"""What a detector finds in zones: present or absent, and how many, by the last frames."""

import logging
from collections.abc import Iterable
from typing import Any

import pytest

from edged.config import StateConfig
from edged.hub.publish.found_states import stands_in
from edged.hub.publish.seen_states import SeenStates
from edged.messages import Prediction
from edged.messages.published import Box
from tests.client import statuses

LEFT_HALF = ((0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (0.0, 1.0))
L_SHAPE = ((0.0, 0.0), (1.0, 0.0), (1.0, 0.4), (0.4, 0.4), (0.4, 1.0), (0.0, 1.0))


def box(label: str, x: float = 0.25, bottom: float = 0.9, score: float = 0.8) -> Box:
    """A box whose lower edge has its middle at x, bottom."""
    return Box(label=label, index=0, score=score, box=(x - 0.1, bottom - 0.4, x + 0.1, bottom))


def found(*boxes: Box) -> Prediction:
    return statuses.prediction("person", camera="yard", boxes=boxes)


def states_of(**fields: Any) -> SeenStates:
    return SeenStates({"yard": StateConfig.model_validate(fields)})


def texts(seen: SeenStates, frames: Iterable[tuple[Box, ...]]) -> list[list[str | None]]:
    """The new states after each frame."""
    return [[event.state for event in seen.saw(found(*boxes))] for boxes in frames]


@pytest.mark.parametrize(
    ("zone", "x", "bottom", "is_in"),
    [
        (LEFT_HALF, 0.25, 0.9, True),
        (LEFT_HALF, 0.75, 0.9, False),
        (LEFT_HALF, 0.25, 1.0, True),  # at the lower edge of the picture, as boxes that it cuts off
        (LEFT_HALF, 0.5, 0.9, True),
        (L_SHAPE, 0.2, 0.9, True),
        (L_SHAPE, 0.9, 0.2, True),
        (L_SHAPE, 0.9, 0.9, False),
        (L_SHAPE, 0.4, 0.4, True),
    ],
)
def test_a_box_is_where_the_middle_of_its_lower_edge_is(
    zone: tuple[tuple[float, float], ...], x: float, bottom: float, is_in: bool
) -> None:
    assert stands_in(box("person", x, bottom), zone) is is_in


def test_it_is_present_once_enough_of_the_last_frames_have_it_and_absent_once_too_few() -> None:
    seen = states_of(present={"visitor": {"labels": ("person",), "found": 2, "of": 3}})
    there, empty = (box("person"),), ()

    assert texts(seen, [there, there]) == [[], ["present"]]
    assert texts(seen, [empty, there, empty]) == [[], [], ["absent"]]
    assert texts(seen, [empty, there, there]) == [[], [], ["present"]]
    assert seen.found("yard") == ({"visitor": True}, {})


def test_it_is_absent_as_soon_as_too_few_frames_are_left() -> None:
    seen = states_of(present={"visitor": {"labels": ("person",), "found": 2, "of": 3}})

    assert texts(seen, [(), ()]) == [[], ["absent"]]


def test_a_count_is_the_median_of_the_last_frames() -> None:
    seen = states_of(count={"cars": {"labels": ("car", "truck"), "of": 3}})
    two = (box("car"), box("truck"), box("person"))

    assert texts(seen, [two, (box("car"),)]) == [[], []]
    assert texts(seen, [two]) == [["2"]]
    assert texts(seen, [two, (), ()]) == [[], [], ["0"]]
    assert seen.found("yard") == ({}, {"cars": 0})


def test_only_boxes_in_the_zone_count_and_the_event_names_it() -> None:
    seen = states_of(
        zones={"gate": LEFT_HALF},
        present={"visitor": {"labels": ("person",), "zone": "gate", "of": 1}},
        count={"people": {"labels": ("person",), "of": 1}},
    )

    events = [*seen.saw(found(box("person", 0.75), box("person", 0.8)))]
    assert [(event.event, event.camera, event.name, event.state) for event in events] == [
        ("state", "yard", "visitor", "absent"),
        ("state", "yard", "people", "2"),
    ]
    assert [event.message for event in events] == [
        "camera yard sees: visitor absent (person in gate)",
        "camera yard sees: people 2 (person)",
    ]
    assert texts(seen, [(box("person", 0.2),)]) == [["present", "1"]]


def test_settings_that_stay_keep_their_states_at_a_reload() -> None:
    state = StateConfig.model_validate({"count": {"cars": {"labels": ("car",), "of": 1}}})
    seen = SeenStates({"yard": state})
    list(seen.saw(found(box("car"))))

    seen.set_config({"yard": state})
    assert seen.found("yard") == ({}, {"cars": 1})

    seen.set_config({"yard": StateConfig.model_validate({"count": {"cars": {"labels": ("car",), "of": 2}}})})
    assert seen.found("yard") == ({}, {})


@pytest.mark.parametrize(
    ("fields", "prediction", "problem"),
    [
        ({"count": {"cars": {"labels": ("car",)}}}, statuses.prediction("open", camera="yard"), "is a classifier"),
        ({"labels": ("person",)}, found(box("person")), "is a detector"),
    ],
)
def test_states_of_another_kind_of_network_are_reported_once(
    fields: dict[str, Any], prediction: Prediction, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen = states_of(**fields)
    with caplog.at_level(logging.WARNING):
        assert [event for _ in range(3) for event in seen.saw(prediction)] == []

    (record,) = caplog.records
    assert record.getMessage().startswith("states.yard: ")
    assert problem in record.getMessage()
