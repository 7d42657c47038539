"""The mean average precision of boxes, as COCO computes it, by pycocotools, an optional dependency.

Source of the measure: Lin et al., "Microsoft COCO: Common Objects in Context", 2014, and
https://cocodataset.org/#detection-eval.
"""

import contextlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edged.errors import DataError
from edged.evaluation.annotations import Rectangle, Size, TrueBox
from edged.messages.detection import FoundBox
from edged.system.python_packages import install_command

PACKAGE = "pycocotools"
UNKNOWN = -1  # what COCO's tools give where there is no box to find
ALL_SIZES, MOST_FOUND = 0, -1  # their last axes: areas of boxes, and the most boxes of a picture


@dataclass(frozen=True)
class LabelPrecision:
    """The average precision of one class, and how many boxes of it are right."""

    index: int
    boxes: int
    precision: float


@dataclass(frozen=True)
class BoxFigures:
    """Average precision, mean over labels; None where no box is right.

    mean: over intersections over union from 0.50 to 0.95. at_50, at_75: at one. small, medium, large: of boxes of
    up to 32², up to 96² and more pixels. recall: with at most 100 boxes a picture, mean over all intersections.
    """

    mean: float
    at_50: float
    at_75: float
    small: float | None
    medium: float | None
    large: float | None
    recall: float
    by_label: tuple[LabelPrecision, ...]


@dataclass(frozen=True)
class JudgedPicture:
    """The boxes of a picture that are right, and those that were found there. `size`: in pixels."""

    size: Size
    truths: Sequence[TrueBox]
    found: Sequence[FoundBox]


def box_figures(pictures: Sequence[JudgedPicture]) -> BoxFigures:
    """Judge what was found in pictures. Raises DataError without pycocotools, or where no box is right."""
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError:
        raise DataError(f"mAP needs {PACKAGE}: {install_command(PACKAGE)}") from None
    counts = _count(pictures)
    if not counts:
        raise DataError("no box is there to be found in these pictures: mAP needs one at least")
    with contextlib.redirect_stdout(io.StringIO()):  # they print what they do
        truths, found = (
            _indexed(COCO(), len(pictures), each) for each in (_truths_of(pictures), _found_of(pictures))
        )
        judged = COCOeval(truths, found, "bbox")
        judged.evaluate()
        judged.accumulate()
        judged.summarize()
    return _figures(judged, counts)


def true_boxes(found: Sequence[FoundBox], size: Size) -> tuple[TrueBox, ...]:
    """Return boxes that another network, or another runtime, has found as those that are right."""
    boxes = [(each, _rectangle(each, size)) for each in found]
    return tuple(TrueBox(each.index, box, box[2] * box[3]) for each, box in boxes)


def _count(pictures: Sequence[JudgedPicture]) -> Mapping[int, int]:
    """Count the right boxes of each class, crowds excepted."""
    indices = [box.index for picture in pictures for box in picture.truths if not box.is_crowd]
    return {index: indices.count(index) for index in sorted(set(indices))}


def _indexed(tools: Any, pictures: int, annotations: Sequence[Mapping[str, object]]) -> Any:
    """Fill COCO's tools with annotations of so many pictures; each has the number of its picture and a class."""
    tools.dataset = {
        "images": [{"id": number} for number in range(pictures)],
        "categories": [{"id": index} for index in {each["category_id"] for each in annotations}],
        "annotations": [{"id": number, **each} for number, each in enumerate(annotations, 1)],
    }
    tools.createIndex()
    return tools


def _truths_of(pictures: Sequence[JudgedPicture]) -> list[Mapping[str, object]]:
    return [
        {
            "image_id": number,
            "category_id": box.index,
            "bbox": list(box.rectangle),
            "area": box.area,
            "iscrowd": int(box.is_crowd),
        }
        for number, picture in enumerate(pictures)
        for box in picture.truths
    ]


def _found_of(pictures: Sequence[JudgedPicture]) -> list[Mapping[str, object]]:
    return [
        {
            "image_id": number,
            "category_id": box.index,
            "bbox": list(rectangle),
            "area": rectangle[2] * rectangle[3],
            "score": box.score,
            "iscrowd": 0,
        }
        for number, picture in enumerate(pictures)
        for box in picture.found
        for rectangle in (_rectangle(box, picture.size),)
    ]


def _rectangle(box: FoundBox, size: Size) -> Rectangle:
    (left, top, right, bottom), (width, height) = box.box, size
    return left * width, top * height, (right - left) * width, (bottom - top) * height


def _figures(judged: Any, counts: Mapping[int, int]) -> BoxFigures:
    mean, at_50, at_75, small, medium, large, _, _, recall, *_ = map(float, judged.stats)
    precisions = judged.eval["precision"][..., ALL_SIZES, MOST_FOUND]  # [overlaps, recalls, classes]
    by_label = tuple(
        LabelPrecision(int(index), counts[index], float(np.mean(precisions[:, :, number])))
        for number, index in enumerate(judged.params.catIds)
        if index in counts
    )
    return BoxFigures(mean, at_50, at_75, _known(small), _known(medium), _known(large), recall, by_label)


def _known(share: float) -> float | None:
    return None if share == UNKNOWN else share
