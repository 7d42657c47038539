"""`states`: what cameras see, in words and numbers for automations."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from edged.config.sections import PLAIN_NAME, Section, Share, Text
from edged.messages.detection import Task

DEVICE_CLASS = r"^[a-z_]+$"  # of Home Assistant
UNKNOWN = "unknown"  # the state of every answer that is none of the labels
OF_LABELS = ("labels", "after", "unknown_below")  # keys of states of a classifier
MOST_CORNERS = 100
SMALLEST_AREA = 1e-9  # of a zone, a share of the picture's

Corner = tuple[Share, Share]
PlainName = Annotated[str, Field(pattern=PLAIN_NAME)]
DeviceClass = Annotated[str, Field(pattern=DEVICE_CLASS)]


def _polygon(corners: Sequence[Corner]) -> Sequence[Corner]:
    """Accept the corners of a polygon. Raises ValueError."""
    if not 3 <= len(corners) <= MOST_CORNERS:
        raise ValueError(f"a zone has 3 to {MOST_CORNERS} corners, found {len(corners)}")
    (x, y), *others = corners
    doubled_areas = [(a - x) * (d - y) - (c - x) * (b - y) for (a, b), (c, d) in pairwise(others)]
    if max(map(abs, doubled_areas)) < SMALLEST_AREA:
        raise ValueError("the corners of a zone must not lie on one line")
    return corners


Zone = Annotated[tuple[Corner, ...], AfterValidator(_polygon)]


class FoundConfig(Section):
    """Which boxes of a detector a state is about, and how many frames decide."""

    labels: tuple[Text, ...] = Field(min_length=1, description="Labels of the boxes that count")
    zone: PlainName | None = Field(
        None,
        description="One of `zones`, in which the middle of a box's lower edge must lie; default: anywhere",
    )
    of: int = Field(5, ge=1, le=1000, description="Number of last frames that decide")

    @property
    def described(self) -> str:
        """Return which boxes count, for people."""
        return " or ".join(self.labels) + (f" in {self.zone}" if self.zone else "")


class PresentConfig(FoundConfig):
    """A state that is `present` where so many of the last frames have such a box, else `absent`."""

    found: int | None = Field(
        None, ge=1, le=1000, description="How many of them must have such a box; default: more than half"
    )
    device_class: DeviceClass | None = Field(
        None, description="Home Assistant: class of the binary sensor (occupancy, motion …)"
    )

    @field_validator("found")
    @classmethod
    def _at_most_all(cls, found: int | None, info: ValidationInfo) -> int | None:
        if found and found > info.data.get("of", found):
            raise ValueError(f"expected at most `of`, {info.data['of']}, found {found}")
        return found

    @property
    def least(self) -> int:
        """Return how many frames must have such a box."""
        return self.found or self.of // 2 + 1


class CountConfig(FoundConfig):
    """A state that is the number of such boxes in a frame: the median of the last frames."""


class StateConfig(Section):
    """What a camera sees, such as open or closed, for automations: an event where it changes.

    `labels` is for a classifier, `present` and `count` are for a detector.
    """

    labels: tuple[Text, ...] = Field((), description="Labels that are states; every other is `unknown`")
    after: int = Field(3, ge=1, le=1000, description="Equal answers in a row that change the state")
    unknown_below: Share = Field(0.5, description="Score below which an answer counts as `unknown`")
    device_class: DeviceClass | None = Field(
        None,
        description="Home Assistant: a binary sensor too, of this class (door, garage_door, motion, occupancy …), "
        "which is on for the first of two labels",
    )
    zones: dict[PlainName, Zone] = Field(
        {}, description="Parts of the camera's picture by name: corners [x, y] of a polygon, as shares of it"
    )
    present: dict[PlainName, PresentConfig] = Field(
        {}, description="By name: whether a box with one of these labels is there"
    )
    count: dict[PlainName, CountConfig] = Field(
        {}, description="By name: how many boxes with one of these labels there are"
    )

    @field_validator("device_class")
    @classmethod
    def _of_two(cls, device_class: str | None, info: ValidationInfo) -> str | None:
        if device_class and len(info.data.get("labels", ("", ""))) != 2:
            raise ValueError("is for two labels: the first is on, the second is off")
        return device_class

    @field_validator("labels")
    @classmethod
    def _different(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len({*labels, UNKNOWN}) <= len(labels):
            raise ValueError("must differ, and none may be `unknown`, which stands for all others")
        return labels

    @field_validator("present", "count")
    @classmethod
    def _in_zones(cls, found: dict[str, FoundConfig], info: ValidationInfo) -> dict[str, FoundConfig]:
        zones = info.data.get("zones")
        for name, each in found.items():
            if zones is not None and each.zone is not None and each.zone not in zones:
                others = f"there are: {', '.join(zones)}" if zones else "there are no `zones`"
                raise ValueError(f"{name}: there is no zone {each.zone}; {others}")
        return found

    @field_validator("count")
    @classmethod
    def _of_other_names(cls, count: dict[str, FoundConfig], info: ValidationInfo) -> dict[str, FoundConfig]:
        if both := [name for name in count if name in info.data.get("present", ())]:
            raise ValueError(f"{both[0]} stands in present, too: names must differ")
        return count

    @model_validator(mode="after")
    def _of_one_task(self) -> "StateConfig":
        if not (self.labels or self.detects):
            raise ValueError("expected labels (of a classifier), or present or count (of a detector)")
        changed = [key for key in OF_LABELS if getattr(self, key) != type(self).model_fields[key].default]
        if self.detects and changed:
            raise ValueError(f"{changed[0]} is for a classifier, and present and count are for a detector")
        return self

    @property
    def detects(self) -> bool:
        """Return whether it is about the boxes of a detector."""
        return bool(self.present or self.count)

    @property
    def all_labels(self) -> tuple[str, ...]:
        """Return all labels that its states name, each once."""
        found = (label for each in (*self.present.values(), *self.count.values()) for label in each.labels)
        return tuple(dict.fromkeys((*self.labels, *found)))

    @property
    def described(self) -> str:
        """Return what it follows, for people."""
        if not self.detects:
            return f"{', '.join(self.labels)}, after {self.after} equal answers"
        present = [f"{name}: {each.described}" for name, each in self.present.items()]
        return "; ".join([*present, *(f"{name}: number of {each.described}" for name, each in self.count.items())])

    def misfit(self, task: Task) -> str:
        """Return why a network for this task gives no such states; empty if it does."""
        if self.detects is (task == "detect"):
            return ""
        if self.detects:
            return "present and count are for a detector, and the model is a classifier: write labels"
        return "labels is for a classifier, and the model is a detector: write present or count"
