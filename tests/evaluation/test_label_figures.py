"""Figures of independent scores, on answers that are counted by hand."""

from edged.evaluation.figures import PictureAnswer, figures_of
from edged.evaluation.label_figures import LabelFigures, all_right, label_figures, sum_of

CAT, DOG, CAR = range(3)
UNREAD = PictureAnswer(problem="a.png is damaged", is_read=False)
NOT_FINITE = PictureAnswer(problem="1 of 3 outputs is NaN")
ANSWERS = [
    PictureAnswer(there=(CAT, DOG)),
    PictureAnswer(there=(CAT,)),
    PictureAnswer(there=()),
    PictureAnswer(there=(CAR,)),
    NOT_FINITE,
    UNREAD,
]
RIGHT = [(CAT, DOG), (DOG,), (), (CAR, CAT), (DOG,), (CAR,)]


def test_each_label_is_counted_by_itself_and_nan_finds_nothing() -> None:
    assert label_figures(ANSWERS, RIGHT, 3) == (
        LabelFigures(found=1, wrongly=1, missed=1),
        LabelFigures(found=1, wrongly=0, missed=2),
        LabelFigures(found=1, wrongly=0, missed=0),
    )


def test_precision_recall_and_f1_follow_from_the_counts() -> None:
    figures = sum_of(label_figures(ANSWERS, RIGHT, 3))

    assert figures == LabelFigures(found=3, wrongly=1, missed=3)
    assert (figures.precision, figures.recall, figures.f1) == (3 / 4, 3 / 6, 6 / 10)


def test_a_label_that_is_nowhere_and_was_not_found_is_right() -> None:
    assert (LabelFigures().precision, LabelFigures().recall, LabelFigures().f1) == (1, 1, 1)


def test_a_picture_is_right_if_exactly_its_labels_were_found() -> None:
    assert all_right(ANSWERS, RIGHT) == 2


def test_a_picture_without_a_label_confuses_no_classes() -> None:
    assert figures_of([PictureAnswer(best=CAT, score=0.1)], [()]).confusion == {}
