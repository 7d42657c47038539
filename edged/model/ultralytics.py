"""What Ultralytics writes into its files beside the network: its task, its labels, the size of its pictures."""

import re
from collections.abc import Mapping

from edged.errors import ModelError
from edged.messages.detection import Task
from edged.model.graph import Pair
from edged.model.metadata import PREFIX

TASK, NAMES, SIZE = "task", "names", "imgsz"  # keys of properties
SIDES = re.compile(r"\s*\[\s*(\d{1,5})\s*,\s*(\d{1,5})\s*\]\s*", re.ASCII)  # height and width

Properties = Mapping[str, str]


def is_of_ultralytics(properties: Properties) -> bool:
    """Return whether a file with these properties is one of Ultralytics."""
    return TASK in properties and NAMES in properties


def stated_task(properties: Properties) -> Task | None:
    """Return what the network is for; None for a file of others. Raises ModelError for another task."""
    match properties[TASK] if is_of_ultralytics(properties) else None:
        case None:
            return None
        case "classify":
            return "classify"
        case "detect":
            return "detect"
        case other:
            raise ModelError(f"its metadata says task {other}; supported are classify and detect")


def stated_size(properties: Properties) -> Pair | None:
    """Return the width and height for which the file was exported, if the file has it; else None."""
    found = SIDES.fullmatch(properties.get(SIZE, "")) if is_of_ultralytics(properties) else None
    return (int(found[2]), int(found[1])) if found else None


def stated_preparation(properties: Properties) -> dict[str, str]:
    """Return how the file requires its pictures, as properties of edged.

    Classifiers of Ultralytics take the largest centred square of a picture, 0 … 1.
    """
    if is_of_ultralytics(properties) and properties[TASK] == "classify":
        return {f"{PREFIX}preprocess": "unit", f"{PREFIX}resize": "crop"}
    return {}
