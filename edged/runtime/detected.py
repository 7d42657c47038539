"""The boxes of prepared pictures as the daemon finds them, or why there are none."""

from dataclasses import dataclass

from edged.messages.detection import FoundBox
from edged.model.package import Model
from edged.pictures.prepare import placement
from edged.runtime.jobs import Computed, not_finite


@dataclass(frozen=True)
class PictureBoxes:
    """`boxes`: of a picture, best first; none because of a `problem`.

    `is_read`: False if the picture itself is the problem, not the network's outputs.
    """

    boxes: tuple[FoundBox, ...] = ()
    problem: str = ""
    is_read: bool = True


def boxes_of_outputs(outputs: Computed, model: Model, size: tuple[int, int]) -> PictureBoxes:
    """Return the boxes that a detector's outputs hold for a whole picture of `size`: width and height."""
    assert model.detector, "a detector"  # noqa: S101
    if isinstance(outputs, str):
        return PictureBoxes(problem=outputs, is_read=False)
    if problem := not_finite(outputs):
        return PictureBoxes(problem=problem)
    return PictureBoxes(model.detector.boxes(outputs, placement(*size, model.input)))
