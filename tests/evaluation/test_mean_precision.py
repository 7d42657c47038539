"""The mean average precision of boxes."""

import sys

import pytest

from edged.errors import DataError
from edged.evaluation.annotations import TrueBox
from edged.evaluation.mean_precision import JudgedPicture, box_figures, true_boxes
from edged.messages.detection import FoundBox

SIZE = 200, 100
LEFT, RIGHT = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0)


def found(index: int, score: float, box: tuple[float, float, float, float] = LEFT) -> FoundBox:
    return FoundBox(index=index, score=score, box=box)


def truth(*boxes: FoundBox) -> tuple[TrueBox, ...]:
    return true_boxes(boxes, SIZE)


def test_what_is_found_exactly_has_all() -> None:
    boxes = found(0, 0.9), found(2, 0.5, RIGHT)

    figures = box_figures([JudgedPicture(SIZE, truth(*boxes), boxes)])

    assert (figures.mean, figures.at_50, figures.at_75, figures.recall) == pytest.approx((1, 1, 1, 1))
    assert (figures.small, figures.medium) == (None, None)
    assert figures.large == pytest.approx(1)
    assert [(each.index, each.boxes) for each in figures.by_label] == [(0, 1), (2, 1)]


def test_a_box_that_moved_counts_up_to_its_overlap() -> None:
    moved = found(0, 0.9, (0.0, 0.0, 0.5, 0.72))  # of the box it covers 0.72

    figures = box_figures([JudgedPicture(SIZE, truth(found(0, 1.0)), (moved,))])

    assert (figures.at_50, figures.at_75) == pytest.approx((1, 0))
    assert figures.mean == pytest.approx(0.5)  # 0.50, 0.55, 0.60, 0.65, 0.70 of ten overlaps


@pytest.mark.parametrize(("score", "precision"), [(0.95, 0.5), (0.4, 1.0)])
def test_a_wrong_box_counts_if_it_comes_before_the_right_one(score: float, precision: float) -> None:
    right, wrong = found(0, 0.9), found(0, score)

    figures = box_figures([JudgedPicture(SIZE, truth(right), (right,)), JudgedPicture(SIZE, (), (wrong,))])

    assert figures.mean == pytest.approx(precision)


def test_a_label_that_is_not_found_has_none_and_a_label_that_is_not_there_no_part() -> None:
    figures = box_figures(
        [JudgedPicture(SIZE, truth(found(0, 1.0), found(1, 1.0)), (found(0, 0.9), found(5, 0.9)))]
    )

    assert figures.mean == pytest.approx(0.5)
    assert {each.index: each.precision for each in figures.by_label} == pytest.approx({0: 1, 1: 0})


def test_a_crowd_is_neither_right_nor_wrong() -> None:
    crowd = TrueBox(0, (100, 0, 100, 100), 10_000, is_crowd=True)

    figures = box_figures(
        [JudgedPicture(SIZE, (*truth(found(0, 1.0)), crowd), (found(0, 0.9, RIGHT), found(0, 0.5)))]
    )

    assert figures.mean == pytest.approx(1)
    assert [each.boxes for each in figures.by_label] == [1]


def test_nothing_that_is_found_is_zero_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert box_figures([JudgedPicture(SIZE, truth(found(0, 1.0)), ())]).mean == 0
    assert capsys.readouterr().out == ""


def test_there_must_be_a_box_to_find() -> None:
    with pytest.raises(DataError, match="no box is there to be found"):
        box_figures([JudgedPicture(SIZE, (), (found(0, 0.9),))])


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycocotools.coco", None)  # as where it is not installed

    with pytest.raises(DataError, match=r"mAP needs pycocotools: .* install"):
        box_figures([JudgedPicture(SIZE, truth(found(0, 1.0)), ())])
