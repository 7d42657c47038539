"""Softmax with cross-entropy, its gradient, and right answers."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edged.engine.gradients.batch import cross_entropy
from edged.engine.launch import Resident
from edged.engine.layout import Halo, Tensor
from tests.engine.bench import Bench
from tests.engine.lab import Lab, assert_close, random
from tests.train.reference.network import cross_entropy as expected_loss

LABELS = np.array([3, 0, 9, 20, 7, 1, 2], np.int32)
ORDER = np.array([1, 1, 5, 3, 0, 2, 6], np.int32)
FIRST = 2  # the batch is the last five of the order


def one_step(
    lab: Lab, scores: NDArray[Any], *, block: int, smoothing: float = 0.0, steps: int = 1
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sums of loss and right answers by frame [frames, 2], and the gradient [frames, classes]."""
    frames, classes = scores.shape
    source = Tensor("scores", 1, classes, 1, frames, block, Halo(0, 1, 0, 0))
    target = Tensor("gradient", 1, classes, 1, frames, block, Halo(1, 0, 1, 1))
    labels, order = Resident("labels", LABELS.nbytes), Resident("order", ORDER.nbytes)
    sums = Resident("sums", frames * 8)
    launches = cross_entropy(source, target, labels, order, sums, smoothing, lab.device)
    image = scores.T[None, :, None]
    nothing = np.zeros((frames, 2), np.float32)
    bench = Bench(lab, launches, {source: image, labels: LABELS, order: ORDER, sums: nothing})
    for _ in range(steps):
        bench.run(first=np.int32(FIRST))
    return bench.floats(sums).reshape(frames, 2), bench.image(target)[0, :, 0].T


@pytest.mark.parametrize(("block", "smoothing"), [(4, 0.0), (16, 0.1)])
def test_loss_right_answers_and_gradient_are_those_of_the_reference(
    lab: Lab, block: int, smoothing: float
) -> None:
    scores, labels = 3 * random(5, 21), LABELS[ORDER[FIRST:]]
    scores[1, labels[1]] = 20

    sums, gradient = one_step(lab, scores, block=block, smoothing=smoothing)

    loss, slope = expected_loss(scores.astype(np.float64), labels, smoothing)
    assert sums[:, 0].mean() == pytest.approx(loss, rel=1e-5)
    assert sums[:, 1].tolist() == (scores.argmax(axis=1) == labels).tolist()
    assert_close(gradient, slope)


def test_sums_grow_with_each_step(lab: Lab) -> None:
    scores = random(5, 21)

    once, _ = one_step(lab, scores, block=4)
    twice, _ = one_step(lab, scores, block=4, steps=2)

    assert np.array_equal(twice, 2 * once)


def test_huge_scores_have_a_finite_loss_and_equal_ones_share_evenly(lab: Lab) -> None:
    scores = np.full((5, 21), -1e4, np.float32)
    scores[0, 0] = 1e4  # far from right

    sums, gradient = one_step(lab, scores, block=4)

    label = LABELS[ORDER[FIRST]]
    assert sums[0].tolist() == [pytest.approx(2e4), 0]
    assert gradient[0, [0, label]] == pytest.approx([0.2, -0.2])
    np.testing.assert_allclose(sums[1:, 0], np.log(21), rtol=1e-6)


def test_a_score_that_is_no_number_makes_the_loss_none(lab: Lab) -> None:
    scores = random(5, 21)
    scores[2, 4] = np.nan

    sums, _ = one_step(lab, scores, block=4)

    assert np.isnan(sums[:, 0]).tolist() == [False, False, True, False, False]
