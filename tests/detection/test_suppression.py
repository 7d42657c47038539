"""Boxes that overlap with a better one, as OpenCV suppresses them."""

import numpy as np
import pytest

from edged.detection.candidates import Candidates, beside
from edged.detection.suppression import suppressed


def candidates(*rows: tuple[float, float, float, float, float, int]) -> Candidates:
    """Of rows (left, top, right, bottom, score, class)."""
    table = np.array(rows, np.float32).reshape(-1, 6)
    return Candidates(table[:, :4], table[:, 4], table[:, 5].astype(np.intp))


SAME_PLACE = candidates(
    (0, 0, 10, 10, 0.5, 0), (1, 0, 11, 10, 0.9, 0), (0, 1, 10, 11, 0.7, 1), (50, 0, 60, 10, 0.6, 0)
)


def test_the_best_of_boxes_that_overlap_stays() -> None:
    found = suppressed(SAME_PLACE, overlap=0.45, across="all", most=10)

    assert found.scores.tolist() == pytest.approx([0.9, 0.6])


def test_boxes_of_other_classes_are_compared_only_on_request() -> None:
    found = suppressed(SAME_PLACE, overlap=0.45, across="label", most=10)

    assert found.scores.tolist() == pytest.approx([0.9, 0.7, 0.6])
    assert found.classes.tolist() == [0, 1, 0]
    assert found.boxes[0].tolist() == [1, 0, 11, 10]


def test_boxes_that_overlap_little_stay() -> None:
    found = suppressed(SAME_PLACE, overlap=0.95, across="all", most=10)

    assert len(found) == 4


def test_at_most_so_many_boxes_are_returned() -> None:
    assert suppressed(SAME_PLACE, overlap=0.45, across="label", most=2).scores.tolist() == pytest.approx(
        [0.9, 0.7]
    )


def test_of_equal_scores_the_first_one_is_the_better_one() -> None:
    equal = candidates((0, 0, 10, 10, 0.5, 0), (1, 0, 11, 10, 0.5, 0), (30, 0, 40, 10, 0.5, 1))

    found = suppressed(equal, overlap=0.45, across="label", most=10)

    assert found.boxes[:, 0].tolist() == [0, 30]


def test_no_candidates_are_no_boxes() -> None:
    assert len(suppressed(candidates(), overlap=0.45, across="label", most=10)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_many_boxes_are_suppressed_by_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    corner, side = random.uniform(0, 90, (200, 2)), random.uniform(5, 40, (200, 2))
    scores, classes = random.permutation(200) / 200 + 0.001, random.integers(0, 3, 200)
    crowd = Candidates(
        np.concatenate([corner, corner + side], 1).astype(np.float32), scores.astype(np.float32), classes
    )

    found = suppressed(crowd, overlap=0.5, across="label", most=200)

    assert found.scores.tolist() == [crowd.scores[index] for index in by_definition(crowd, 0.5)]


def by_definition(crowd: Candidates, overlap: float) -> list[int]:
    kept: list[int] = []
    for index in np.argsort(-crowd.scores, kind="stable"):
        rivals = [other for other in kept if crowd.classes[other] == crowd.classes[index]]
        if all(intersection_over_union(crowd.boxes[index], crowd.boxes[other]) <= overlap for other in rivals):
            kept.append(int(index))
    return kept


def intersection_over_union(a: np.ndarray, b: np.ndarray) -> float:
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    common = np.prod(np.clip(high - low, 0, None))
    return float(common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common))


def test_candidates_that_overlap_with_others_are_left_out() -> None:
    others = candidates((0, 0, 10, 10, 0.9, 0))
    given = candidates((0, 0, 10, 9, 0.3, 0), (0, 0, 10, 4, 0.3, 0), (20, 0, 30, 10, 0.2, 0))

    assert beside(given, others, 0.5).boxes[:, 3].tolist() == [4, 10]
    assert len(beside(given, others.chosen(np.array([], np.intp)), 0.5)) == 3
