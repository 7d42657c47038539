"""Probabilities and the top classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edged.model.graph import Flatten, Graph
from edged.model.reference import softmax
from edged.runtime.jobs import ends_in_softmax, top_classes
from tests.worker.networks import dense_network

frames_of_scores = arrays(np.float32, (2, 7), elements=st.floats(-1e4, 1e4, width=32))


@given(outputs=frames_of_scores)
def test_probabilities_of_a_frame_sum_to_one_and_keep_the_order(outputs: np.ndarray) -> None:
    shares = softmax(outputs)

    assert shares.dtype == np.float32
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
    best = outputs.argmax(axis=1)
    assert (shares[[0, 1], best] == shares.max(axis=1)).all()


def test_softmax_equals_its_formula() -> None:
    outputs = np.array([[0.0, 1.0, 2.0]], np.float32)

    expected = np.exp(outputs) / np.exp(outputs).sum()

    np.testing.assert_allclose(softmax(outputs), expected, rtol=1e-6)


def test_the_best_class_comes_first_and_equal_ones_by_index() -> None:
    top = top_classes(np.array([0.1, 0.3, 0.1, 0.5], np.float32), 3)

    assert [score.index for score in top] == [3, 1, 0]
    assert [score.score for score in top] == pytest.approx([0.5, 0.3, 0.1])


def test_no_more_classes_than_there_are() -> None:
    assert len(top_classes(np.array([0.1, 0.9], np.float32), 5)) == 2


def test_a_softmax_at_the_end_is_seen_through_a_flatten() -> None:
    graph = dense_network(softmax=True)
    flattened = Graph(
        graph.name,
        graph.input,
        "end",
        (*graph.operators, Flatten("end", (graph.output,), "end")),
        {**graph.shapes, "end": (5,)},
    )

    assert ends_in_softmax(graph)
    assert ends_in_softmax(flattened)
    assert not ends_in_softmax(dense_network())
