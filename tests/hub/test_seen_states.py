"""What a camera sees, debounced: the state changes only after equal answers in a row."""

from pathlib import Path

import pytest

from edged.config import StateConfig
from edged.config.load import load_config
from edged.errors import ConfigError
from edged.hub.publish.seen_states import SeenStates
from edged.messages import Label
from tests.hub.running import Run

DOOR = StateConfig(labels=("open", "closed"), after=3, unknown_below=0.6)


def label(name: str, score: float = 0.9) -> Label:
    return Label(label=name, index=0, score=score)


def states_after(seen: SeenStates, *answers: str) -> list[str | None]:
    """Answer for the camera `door`, `open?` with a low score; return the state after each."""
    states = []
    for answer in answers:
        seen.answered("door", [label(answer.rstrip("?"), 0.5 if answer.endswith("?") else 0.9)])
        states.append(seen.state("door"))
    return states


def test_it_changes_after_so_many_equal_answers_in_a_row() -> None:
    seen = SeenStates({"door": DOOR})
    assert states_after(seen, "open", "open", "open") == [None, None, "open"]
    assert states_after(seen, "closed", "closed", "open", "closed", "closed") == ["open"] * 5
    assert states_after(seen, "closed") == ["closed"]


def test_a_low_score_and_another_label_are_unknown_together() -> None:
    seen = SeenStates({"door": DOOR})
    assert states_after(seen, "open?", "cat", "closed?") == [None, None, "unknown"]


def test_of_several_labels_that_are_there_the_best_one_that_is_a_state_counts() -> None:
    seen = SeenStates({"door": StateConfig(labels=("open", "closed"), after=1)})

    seen.answered("door", [label("person"), label("closed"), label("open", 0.8)])
    assert seen.state("door") == "closed"

    seen.answered("door", [])
    assert seen.state("door") == "unknown"


def test_a_change_is_one_event() -> None:
    seen = SeenStates({"door": DOOR})
    events = [seen.answered("door", [label("open")]) for _ in range(5)]
    assert [event and (event.event, event.camera, event.state) for event in events] == [
        None,
        None,
        ("state", "door", "open"),
        None,
        None,
    ]


def test_another_camera_has_no_state() -> None:
    seen = SeenStates({"door": DOOR})
    assert seen.answered("gate", [label("open")]) is None
    assert seen.state("gate") is None


def test_new_settings_begin_anew_and_unchanged_ones_go_on() -> None:
    seen = SeenStates({"door": DOOR, "gate": DOOR})
    for camera in ("door", "gate"):
        for _ in range(3):
            seen.answered(camera, [label("open")])
    seen.set_config({"door": DOOR, "gate": DOOR.model_copy(update={"after": 2})})
    assert (seen.state("door"), seen.state("gate")) == ("open", None)
    seen.set_config({})
    assert seen.state("door") is None
    assert not seen.are_wanted


def test_the_hub_publishes_the_state_as_an_event_and_in_its_status(tmp_path: Path) -> None:
    run = Run(tmp_path, ["steady"], ["good"], states={"steady": {"labels": ["yes"], "after": 2}})
    with run.events() as events, run.statuses() as statuses:

        def is_known() -> bool:
            return any(status.camera_states["steady"].state for status in statuses)

        run.once(lambda: is_known() and any(event.event == "state" for event in events))
    (event,) = (event for event in events if event.event == "state")
    assert (event.camera, event.state, event.message) == ("steady", "yes", "camera steady sees: yes")
    assert statuses[-1].camera_states["steady"].state == "yes"


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ("{gate: {labels: [open]}}", "states: there is no camera gate; there are: door"),
        ("{door: {labels: []}}", "states.door: expected labels"),
        ("{door: {labels: [open, unknown]}}", "must differ, and none may be `unknown`"),
        ("{door: {labels: [open, open]}}", "must differ"),
    ],
)
def test_states_that_cannot_be_are_named(tmp_path: Path, states: str, message: str) -> None:
    file = tmp_path / "edged.yaml"
    file.write_text(f"cameras: {{door: {{source: 'synthetic:digits'}}}}\nstates: {states}\n")
    with pytest.raises(ConfigError, match=message):
        load_config(file)
