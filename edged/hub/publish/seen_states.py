"""The seen states: what each camera sees, where an answer counts only after several equal ones in a row.

Single wrong answers, as at the moment when a door moves, change nothing.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from edged.config import UNKNOWN, StateConfig
from edged.hub.events import HubEvent
from edged.hub.publish.found_states import FoundStates
from edged.messages import Label, Prediction
from edged.messages.published import answers_of

log = logging.getLogger("edged.hub")


@dataclass(slots=True)
class Answers:
    """The last answers of a camera: the newest, how many equal ones in a row, and the state that they gave."""

    newest: str = ""
    in_a_row: int = 0
    state: str | None = None


class SeenStates:
    """The states of all cameras that `states` of the config names.

    `are_wanted`: there are any; looked at for each prediction.
    """

    def __init__(self, wanted: Mapping[str, StateConfig]) -> None:
        self._wanted: dict[str, StateConfig] = {}
        self._answers: dict[str, Answers] = {}
        self._found: dict[str, FoundStates] = {}
        self._unfit: set[str] = set()  # cameras whose states the network does not give, as was reported
        self.set_config(wanted)

    def set_config(self, wanted: Mapping[str, StateConfig]) -> None:
        """Follow these cameras from now on; a camera whose settings stay keeps its state."""
        stay = {name for name, config in wanted.items() if self._wanted.get(name) == config}
        self._answers = {name: self._answers[name] if name in stay else Answers() for name in wanted}
        self._found = {name: self._found[name] if name in stay else FoundStates(wanted[name]) for name in wanted}
        self._wanted = dict(wanted)
        self._unfit.clear()
        self.are_wanted = bool(wanted)

    def state(self, camera: str) -> str | None:
        """Return the state of a camera; None before the first, or if none is wanted."""
        answers = self._answers.get(camera)
        return answers.state if answers else None

    def found(self, camera: str) -> tuple[Mapping[str, bool], Mapping[str, int]]:
        """Return the states `present` and `count` of a camera, as far as they are known."""
        found = self._found.get(camera)
        return (found.present, found.count) if found else ({}, {})

    def saw(self, prediction: Prediction) -> Iterator[HubEvent]:
        """Count a prediction; yield the events of the states that this changes."""
        camera, boxes = prediction.camera, prediction.boxes
        wanted = self._wanted.get(camera)
        if wanted is None:
            return
        if misfit := wanted.misfit("classify" if boxes is None else "detect"):
            self._report_once(camera, misfit)
        elif boxes is None:
            if event := self.answered(camera, answers_of(prediction)):
                yield event
        else:
            for name, state, each in self._found[camera].saw(boxes):
                message = f"camera {camera} sees: {name} {state} ({each.described})"
                yield HubEvent("state", message, camera=camera, state=state, name=name)

    def answered(self, camera: str, labels: Sequence[Label]) -> HubEvent | None:
        """Count an answer, the labels that are there, best first; return the event if it changes the state."""
        wanted = self._wanted.get(camera)
        if wanted is None:
            return None
        answers = self._answers[camera]
        states = (
            each.label for each in labels if each.label in wanted.labels and each.score >= wanted.unknown_below
        )
        answer = next(states, UNKNOWN)
        answers.in_a_row = answers.in_a_row + 1 if answer == answers.newest else 1
        answers.newest = answer
        if answers.in_a_row < wanted.after or answer == answers.state:
            return None
        answers.state = answer
        return HubEvent("state", f"camera {camera} sees: {answer}", camera=camera, state=answer)

    def _report_once(self, camera: str, misfit: str) -> None:
        """Log why the network that answers gives no states of a camera."""
        if camera not in self._unfit:
            log.warning("states.%s: %s", camera, misfit)
        self._unfit.add(camera)
