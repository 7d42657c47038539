"""What the scores of a network are, and the top classes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from onnx import TensorProto

from edged.config import ModelConfig
from edged.errors import ModelError
from edged.messages.scores import ScoreKind, ScoresKnownBy
from edged.model import scores
from edged.model.package import load_model
from edged.model.reference import prepare, run, softmax
from edged.model.scores import score_rule, top_classes
from tests.model.score_tails import CLASSES, SIDE, Node, logits, network_with

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


SOFTMAX: Node = ("Softmax", ["l"], "s", {"axis": 1})
LOG_SOFTMAX: Node = ("LogSoftmax", ["l"], "s", {"axis": 1})
SIGMOID: Node = ("Sigmoid", ["l"], "s")
EXP: Node = ("Exp", ["l"], "e")
SUM: Node = ("ReduceSum", ["e", "axis"], "t", {"keepdims": 1})


def _f(value: object) -> np.ndarray:
    return np.asarray(value, np.float32)


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@dataclass(frozen=True)
class Tail:
    """What follows the logits, and what the scores are then, of logits l."""

    nodes: tuple[Node, ...]
    kind: ScoreKind
    scores: Callable[[np.ndarray], np.ndarray]
    constants: Mapping[str, np.ndarray] = field(default_factory=dict)
    outputs: int = CLASSES
    known_by: ScoresKnownBy = "network"


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


TAILS = {
    "nothing": Tail((("Identity", ["l"], "y"),), "logits", softmax),
    "ReLU": Tail((("Relu", ["l"], "y"),), "logits", lambda x: softmax(np.maximum(x, 0))),
    "softmax": Tail((SOFTMAX, ("Identity", ["s"], "y")), "probabilities", softmax),
    "quantize_static": Tail(
        (SOFTMAX, ("QuantizeLinear", ["s", "c", "z"], "q"), ("DequantizeLinear", ["q", "c", "z"], "y")),
        "probabilities",
        lambda x: np.round(softmax(x) * 256).clip(0, 255) / 256,
        {"c": _f(1 / 256), "z": np.array(0, np.uint8)},
    ),
    "reshaped": Tail(
        (SOFTMAX, ("Reshape", ["s", "shape"], "r"), ("Squeeze", ["r", "last"], "y")),
        "probabilities",
        softmax,
        {"shape": _i(1, CLASSES, 1), "last": _i(2)},
    ),
    "cast": Tail(
        (
            SOFTMAX,
            ("Cast", ["s"], "h", {"to": TensorProto.FLOAT16}),
            ("Cast", ["h"], "y", {"to": TensorProto.FLOAT}),
        ),
        "probabilities",
        softmax,
    ),
    "clipped": Tail(
        (SOFTMAX, ("Clip", ["s", "low", "high"], "y")),
        "probabilities",
        softmax,
        {"low": _f(1e-7), "high": _f(1 - 1e-7)},
    ),
    "without the first class": Tail(
        (SOFTMAX, ("Slice", ["s", "one", "end", "one"], "y")),
        "probabilities",
        lambda x: softmax(x)[:, 1:],
        {"one": _i(1), "end": _i(CLASSES)},
        outputs=CLASSES - 1,
    ),
    "in another order": Tail(
        (SOFTMAX, ("Gather", ["s", "order"], "y", {"axis": 1})),
        "probabilities",
        lambda x: softmax(x)[:, ::-1],
        {"order": _i(4, 3, 2, 1, 0)},
    ),
    "exponentials by their sum": Tail(
        (EXP, SUM, ("Div", ["e", "t"], "y")), "probabilities", softmax, {"axis": _i(1)}
    ),
    "shifted exponentials by their sum": Tail(
        (
            ("ReduceMax", ["l"], "m", {"axes": [1]}),
            ("Sub", ["l", "m"], "d"),
            ("Exp", ["d"], "e"),
            SUM,
            ("Add", ["t", "tiny"], "u"),
            ("Div", ["e", "u"], "y"),
        ),
        "probabilities",
        softmax,
        {"axis": _i(1), "tiny": _f(1e-9)},
    ),
    "exponentials times the inverse of their sum": Tail(
        (EXP, SUM, ("Reciprocal", ["t"], "i"), ("Mul", ["i", "e"], "y")), "probabilities", softmax, {"axis": _i(1)}
    ),
    "exponential of the logarithm": Tail((LOG_SOFTMAX, ("Exp", ["s"], "y")), "probabilities", softmax),
    "logarithm": Tail((LOG_SOFTMAX, ("Identity", ["s"], "y")), "log_probabilities", softmax),
    "logarithm of softmax": Tail((SOFTMAX, ("Log", ["s"], "y")), "log_probabilities", softmax),
    "less the logarithm of the sum": Tail(
        (EXP, SUM, ("Log", ["t"], "g"), ("Sub", ["l", "g"], "y")), "log_probabilities", softmax, {"axis": _i(1)}
    ),
    "in hundredths": Tail((SOFTMAX, ("Mul", ["s", "c"], "y")), "probabilities", softmax, {"c": _f(100)}),
    "mean of two": Tail(
        (SOFTMAX, ("Mul", ["l", "half"], "k"), ("Softmax", ["k"], "v", {"axis": 1}), ("Add", ["s", "v"], "a"),
         ("Div", ["a", "two"], "y")),
        "probabilities",
        lambda x: (softmax(x) + softmax(x / 2)) / 2,
        {"half": _f(0.5), "two": _f(2)},
    ),
    "some classes are masked": Tail(
        (SOFTMAX, ("Mul", ["s", "mask"], "y")),
        "probabilities",
        lambda x: softmax(x) * [1, 0, 1, 1, 0.5],
        {"mask": _f([1, 0, 1, 1, 0.5])},
    ),
    "sigmoids": Tail((SIGMOID, ("Identity", ["s"], "y")), "independent", sigmoid),
    "sigmoids in parts": Tail(
        (("Neg", ["l"], "n"), ("Exp", ["n"], "e"), ("Add", ["e", "one"], "a"), ("Reciprocal", ["a"], "y")),
        "independent",
        sigmoid,
        {"one": _f(1)},
        known_by="answers",
    ),
    "sigmoids in hundredths": Tail((SIGMOID, ("Mul", ["s", "c"], "y")), "independent", sigmoid, {"c": _f(100)}),
    "1 less sigmoids": Tail(
        (SIGMOID, ("Sub", ["one", "s"], "y")), "independent", lambda x: 1 - sigmoid(x), {"one": _f(1)}
    ),
    "sigmoids by their sum": Tail(
        (SIGMOID, ("ReduceSum", ["s", "axis"], "t"), ("Div", ["s", "t"], "y")),
        "probabilities",
        lambda x: sigmoid(x) / sigmoid(x).sum(axis=1, keepdims=True),
        {"axis": _i(1)},
    ),
    "steps without negative ones": Tail(
        (("QuantizeLinear", ["l", "c", "z"], "q"), ("DequantizeLinear", ["q", "c", "z"], "y")),
        "independent",
        lambda x: np.round(x * 256).clip(0, 255) / 256,
        {"c": _f(1 / 256), "z": np.array(0, np.uint8)},
        known_by="answers",
    ),
    "ReLU of tangents": Tail(
        (("Tanh", ["l"], "t"), ("Relu", ["t"], "y")),
        "independent",
        lambda x: np.maximum(np.tanh(x), 0),
        known_by="answers",
    ),
    "rectified ones by their sum": Tail(
        (("Relu", ["l"], "e"), SUM, ("Reciprocal", ["t"], "i"), ("Mul", ["e", "i"], "y")),
        "probabilities",
        lambda x: np.maximum(x, 0) / np.maximum(x, 0).sum(axis=1, keepdims=True),
        {"axis": _i(1)},
    ),
    "hyperbolic tangents": Tail(
        (("Tanh", ["l"], "y"),), "logits", lambda x: softmax(np.tanh(x)), known_by="answers"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TAILS)
def test_scores_are_what_the_last_operators_say(name: str, tmp_path: Path) -> None:
    tail = TAILS[name]
    path = network_with(tmp_path / "net.onnx", *tail.nodes, constants=tail.constants, outputs=tail.outputs)
    pictures = np.random.default_rng(0).integers(0, 256, (3, SIDE, SIDE, 3), np.uint8)
    model = load_model(ModelConfig(path=path, preprocess="raw"))

    rule = score_rule(model)

    outputs = run(model.graph, prepare(pictures, model.input))
    assert (rule.kind, rule.known_by) == (tail.kind, tail.known_by)
    np.testing.assert_allclose(rule.scores(outputs), tail.scores(logits(pictures)), atol=1e-3)


def test_a_sigmoid_beside_its_remainder_is_two_classes(tmp_path: Path) -> None:
    path = network_with(
        tmp_path / "net.onnx",
        ("Sigmoid", ["l"], "s"),
        ("Sub", ["one", "s"], "r"),
        ("Concat", ["r", "s"], "y", {"axis": 1}),
        constants={"one": _f(1)},
        before=1,
        outputs=2,
    )

    rule = score_rule(load_model(ModelConfig(path=path)))

    assert (rule.kind, rule.step, rule.known_by) == ("probabilities", "none", "network")


def test_remainders_of_two_shares_are_shares(tmp_path: Path) -> None:
    tail: tuple[Node, ...] = (SOFTMAX, ("Sub", ["one", "s"], "y"))
    path = network_with(tmp_path / "net.onnx", *tail, constants={"one": _f(1)}, before=2, outputs=2)

    rule = score_rule(load_model(ModelConfig(path=path)))

    assert (rule.kind, rule.step, rule.known_by) == ("probabilities", "none", "network")


def test_classes_of_a_single_pixel_are_as_features(tmp_path: Path) -> None:
    path = network_with(
        tmp_path / "net.onnx",
        ("Reshape", ["l", "shape"], "p"),
        ("Softmax", ["p"], "s", {"axis": 1}),
        ("Mul", ["s", "hundred"], "h"),
        ("GlobalAveragePool", ["h"], "g"),
        ("Flatten", ["g"], "y"),
        constants={"shape": _i(1, CLASSES, 1, 1), "hundred": _f(100)},
    )

    rule = score_rule(load_model(ModelConfig(path=path)))

    assert (rule.kind, rule.whole, rule.known_by) == ("probabilities", 100, "network")


def test_one_sigmoid_is_two_classes(tmp_path: Path) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text("fake\n")
    path = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"), before=1, outputs=1)
    model = load_model(ModelConfig(path=path, labels=labels))

    rule = score_rule(model)

    assert model.labels == ("not fake", "fake")
    assert rule.scores(_f([0.3])) == pytest.approx(0.3)
    best = rule.best(_f([0.3]), 5)
    assert [each.index for each in best] == [0, 1]
    assert [each.score for each in best] == pytest.approx([0.7, 0.3])
    assert rule.best(_f([0.51]), 1)[0].index == 1


@pytest.mark.parametrize(("text", "labels"), [("cat\ndog\n", ("cat", "dog")), (None, ("0", "1"))])
def test_one_logit_is_two_classes_with_any_labels(
    text: str | None, labels: tuple[str, ...], tmp_path: Path
) -> None:
    path = network_with(tmp_path / "net.onnx", ("Identity", ["l"], "y"), before=1, outputs=1)
    file = tmp_path / "labels.txt"
    file.write_text(text or "")
    model = load_model(ModelConfig(path=path, labels=file if text else None))

    assert model.labels == labels
    assert score_rule(model).scores(_f([0.0])) == pytest.approx(0.5)


def test_labels_of_one_output_are_one_or_two(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"), before=1, outputs=1)
    file = tmp_path / "labels.txt"
    file.write_text("a\nb\nc\n")

    with pytest.raises(ModelError, match="has 3 labels for the 2 classes"):
        load_model(ModelConfig(path=path, labels=file))


@pytest.mark.parametrize(
    ("wanted", "step"),
    [("probabilities", "none"), ("logits", "softmax"), ("log_probabilities", "exp"), ("independent", "sigmoid")],
)
def test_the_config_says_what_outputs_are(wanted: ScoreKind, step: str, tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Identity", ["l"], "y"), metadata={"edged.scores": "logits"})

    rule = score_rule(load_model(ModelConfig(path=path, scores=wanted)))

    assert (rule.kind, rule.step, rule.known_by) == (wanted, step, "config")


def test_the_file_says_what_outputs_are_and_auto_in_the_config_looks_at_the_network(tmp_path: Path) -> None:
    path = network_with(
        tmp_path / "net.onnx", SOFTMAX, ("Identity", ["s"], "y"), metadata={"edged.scores": "logits"}
    )

    by_file = score_rule(load_model(ModelConfig(path=path)))
    by_network = score_rule(load_model(ModelConfig(path=path, scores="auto")))

    assert (by_file.kind, by_file.known_by) == ("logits", "file")
    assert (by_network.kind, by_network.known_by) == ("probabilities", "network")


def test_independent_scores_that_are_sigmoids_get_no_other_one(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"))

    assert score_rule(load_model(ModelConfig(path=path, scores="independent"))).step == "none"


def test_independent_labels_are_those_that_reach_their_thresholds(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"))
    model = load_model(ModelConfig(path=path, threshold=0.6, thresholds={"3": 0.2}))

    rule = score_rule(model)

    assert [each.index for each in rule.best(_f([0.7, 0.5, 0.9, 0.3, 0.1]), 1)] == [2, 0, 3]
    assert rule.best(_f([0.1] * CLASSES), 5) == ()


def test_a_threshold_of_a_label_that_the_model_lacks_is_refused(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Sigmoid", ["l"], "y"))

    with pytest.raises(ModelError, match="thresholds has 'smoke', which is none of its labels: 0, 1"):
        load_model(ModelConfig(path=path, thresholds={"smoke": 0.2}))


def test_a_threshold_of_probabilities_is_refused(tmp_path: Path) -> None:
    path = network_with(tmp_path / "net.onnx", ("Identity", ["l"], "y"))

    with pytest.raises(ModelError, match="a threshold is for independent scores; its scores are probabilities"):
        score_rule(load_model(ModelConfig(path=path, threshold=0.6)))


def test_noise_is_answered_once_for_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(ModelConfig(path=network_with(tmp_path / "net.onnx", ("Tanh", ["l"], "y"))))
    first = score_rule(model)

    monkeypatch.delattr(scores, "noise_answers")

    assert score_rule(model) is first
