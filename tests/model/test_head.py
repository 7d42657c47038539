"""A head that was taught takes the place of a network's last layer."""

import numpy as np
import pytest

from edged.config import ModelConfig
from edged.errors import ModelError
from edged.model import reference
from edged.model.cuts import part
from edged.model.graph import Graph
from edged.model.head import Head, features_of, with_head
from edged.model.package import load_model

FEATURES = 128


@pytest.fixture(scope="module")
def digits() -> Graph:
    return load_model(ModelConfig(name="digits")).graph


def head(seed: int = 0, features: int = FEATURES, hidden: int = 16, classes: int = 3) -> Head:
    rng = np.random.default_rng(seed)
    shapes = ((hidden, features), (hidden,), (classes, hidden), (classes,))
    return Head(*(rng.standard_normal(shape).astype(np.float32) for shape in shapes))


def frames(graph: Graph) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(1).standard_normal((2, *graph.shapes[graph.input])).astype(np.float32)


def test_the_features_are_what_the_last_dense_layer_reads(digits: Graph) -> None:
    assert features_of(digits).shape == (FEATURES,)


def test_a_network_with_another_head_answers_as_the_head_does_to_its_features(digits: Graph) -> None:
    x, taught = frames(digits), head()
    features = reference.run(part(digits, None, features_of(digits)), x)

    answers = reference.run(with_head(digits, taught), x)

    assert answers == pytest.approx(taught.shares(features))
    assert answers.sum(axis=1) == pytest.approx(1)


def test_a_network_that_was_taught_can_be_taught_again(digits: Graph) -> None:
    first, second = head(hidden=16), head(seed=2, features=16)
    x = frames(digits)
    between = reference.run(part(with_head(digits, first), None, features_of(with_head(digits, first))), x)

    assert reference.run(with_head(with_head(digits, first), second), x) == pytest.approx(second.shares(between))


def test_a_head_crosses_a_link_as_bytes() -> None:
    sent = head()
    came = Head.from_bytes(sent.to_bytes(), sent.features, sent.hidden, sent.classes)
    assert came.to_bytes() == sent.to_bytes()
    assert came.weight.shape == (3, 16)


def test_bytes_that_are_no_such_head_are_refused() -> None:
    content = head().to_bytes()
    with pytest.raises(ModelError, match="expected 8460, for 128 features"):
        Head.from_bytes(content[:-1], FEATURES, 16, 3)
    with pytest.raises(ModelError, match="not finite"):
        Head.from_bytes(b"\xff" * len(content), FEATURES, 16, 3)


def test_a_head_for_other_features_is_refused(digits: Graph) -> None:
    with pytest.raises(ModelError, match="a head for 64 features: digits has 128"):
        with_head(digits, head(features=64))


def test_a_network_that_does_not_end_in_a_dense_layer_cannot_be_taught(digits: Graph) -> None:
    with pytest.raises(ModelError, match="does not end in a fully connected layer"):
        features_of(part(digits, None, features_of(digits)))
