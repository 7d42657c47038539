"""What makes scores of a network's outputs: nothing more, a softmax, an exponential, or a sigmoid for each label.

The config or the file names what the outputs are; else the last operators of the network show it; else its answers
to pictures of noise.
"""

from dataclasses import dataclass, replace
from math import isclose, prod
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.messages import Score
from edged.messages.scores import ScoreKind, ScoresKnownBy
from edged.model import activations, reference
from edged.model.activations import SIGMOID
from edged.model.output_values import output_values
from edged.model.package import Model
from edged.model.values import Values

Floats = NDArray[np.float32]
Step = Literal["none", "softmax", "exp", "sigmoid"]

NOT_SCORES = "it finds boxes, and this needs scores of classes"
NOISE_PICTURES = 4
CLOSE = 1e-3  # of a sum of shares to its whole: files of half precision and of eight bits round each share
SOURCES = {
    "config": "from the config",
    "file": "from the model's file",
    "network": "as its last operators show",
    "answers": "as its answers to noise look",
}


@dataclass(frozen=True)
class ScoreRule:
    """How scores follow from a network's outputs: `step`, then divided by `whole`.

    outputs: how many a frame has. kind: what they are. thresholds: by label, of independent scores alone.
    """

    outputs: int
    kind: ScoreKind
    known_by: ScoresKnownBy
    step: Step
    whole: float = 1.0
    thresholds: tuple[float, ...] = ()

    @property
    def is_independent(self) -> bool:
        """Return whether each label is there or not, whatever the others are."""
        return self.kind == "independent"

    @property
    def is_binary(self) -> bool:
        """Return whether one output p makes two labels: the first has the score 1 − p, the second p."""
        return self.outputs == 1 and not self.is_independent

    def scores(self, outputs: Floats) -> Floats:
        """Return the scores of outputs [..., outputs], in the same shape."""
        match self.step:
            case "softmax":
                return reference.softmax(outputs)
            case "sigmoid":
                return activations.apply(SIGMOID, outputs)
            case "exp":
                return np.exp(outputs)
            case "none":
                return outputs if self.whole == 1 else outputs / np.float32(self.whole)

    def by_label(self, scores: Floats) -> Floats:
        """Return scores [..., outputs] as [..., labels]."""
        return np.concatenate([1 - scores, scores], axis=-1) if self.is_binary else scores

    def best(self, scores: Floats, count: int) -> tuple[Score, ...]:
        """Return the `count` best labels of one frame's scores [outputs], best first, equal ones in order.

        Of independent scores: all labels that reach their thresholds, possibly none.
        """
        found = self.by_label(scores)
        if not self.is_independent:
            return top_classes(found, count)
        ordered = top_classes(found, len(found))
        return tuple(each for each in ordered if each.score >= self.thresholds[each.index])

    @property
    def described(self) -> str:
        """Describe the scores, and the source of this knowledge, for people."""
        outputs = "output" if self.outputs == 1 else "outputs"
        what = {
            "none": f"the network's {outputs}",
            "softmax": f"softmax of the network's {outputs}",
            "sigmoid": f"sigmoid of the network's {outputs}",
            "exp": f"exponential of the network's {outputs}",
        }[self.step]
        whole = f", divided by {self.whole:g}" if self.whole != 1 else ""
        kind = "independent" if self.is_independent else "probabilities"
        if self.is_binary:
            kind = "probabilities of two classes"
        return f"{kind}: {what}{whole} ({SOURCES[self.known_by]})"


def top_classes(scores: Floats, count: int) -> tuple[Score, ...]:
    """Return the `count` best of one frame's [classes], best first; of equal ones the lower index comes first."""
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(Score(index=int(index), score=float(scores[index])) for index in best)


_rules: WeakKeyDictionary[Model, ScoreRule] = WeakKeyDictionary()


def score_rule(model: Model) -> ScoreRule:
    """Return how the scores of `model` follow from its outputs.

    Raises ModelError for a detector, and for a threshold without use.

    It is kept while the model is: the answers to noise take a forward pass in NumPy.
    """
    if model not in _rules:
        _rules[model] = _found_rule(model)
    return _rules[model]


def _found_rule(model: Model) -> ScoreRule:
    if model.detector:
        raise ModelError(f"{model.name} is a detector: {NOT_SCORES}")
    outputs = prod(model.graph.shapes[model.graph.output])
    values, wanted = output_values(model.graph), model.scores
    if wanted.kind != "auto":
        rule = _as_wanted(wanted.kind, wanted.source, outputs, values, model)
    else:
        rule = _by_network(outputs, values) or _by_answers(outputs, noise_answers(model))
    if rule.is_independent:
        return replace(rule, thresholds=tuple(map(wanted.threshold_of, model.labels)))
    if wanted.by_label or wanted.threshold is not None:
        raise ModelError(
            f"{model.name}: a threshold is for independent scores; its scores are {rule.described}: leave it out, "
            "or set scores: independent"
        )
    return rule


def _as_wanted(kind: ScoreKind, source: ScoresKnownBy, outputs: int, values: Values, model: Model) -> ScoreRule:
    """Return the rule for outputs that are of this kind."""
    whole = values.total if values.kind in {"shares", "bounded"} and values.total else 1.0
    match kind:
        case "logits":
            return ScoreRule(outputs, kind, source, "sigmoid" if outputs == 1 else "softmax")
        case "log_probabilities":
            return ScoreRule(outputs, kind, source, "exp")
        case "probabilities":
            return ScoreRule(outputs, kind, source, "none", whole)
        case "independent":
            step: Step = "none" if _are_shares(values, model) else "sigmoid"
            return ScoreRule(outputs, kind, source, step, whole)


def _are_shares(values: Values, model: Model) -> bool:
    """Return whether outputs that are independent scores already lie from 0 to 1, or to a whole that is known."""
    if values.kind in {"any", "shares", "bounded"}:
        return values.kind != "any"
    answers = noise_answers(model)
    return bool(answers.min() >= 0 and answers.max() <= 1)


def _by_network(outputs: int, values: Values) -> ScoreRule | None:
    """Return the rule for outputs of which the network's operators say enough."""
    match values.kind:
        case "shares":
            return ScoreRule(outputs, "probabilities", "network", "none", _whole(values.total))
        case "bounded":
            kind: ScoreKind = "probabilities" if outputs == 1 else "independent"
            return ScoreRule(outputs, kind, "network", "none", _whole(values.total))
        case "logarithms":
            return ScoreRule(outputs, "log_probabilities", "network", "exp")
        case "any":
            return ScoreRule(outputs, "logits", "network", "sigmoid" if outputs == 1 else "softmax")
        case _:
            return None


def _whole(total: float) -> float:
    return 1.0 if not total or isclose(total, 1.0, rel_tol=CLOSE) else total


def _by_answers(outputs: int, answers: Floats) -> ScoreRule:
    """Return the rule for outputs that look like these [frames, outputs]."""
    low, high, sums = answers.min(), answers.max(), answers.sum(axis=1)
    if low >= 0 and outputs > 1 and np.ptp(sums) <= CLOSE * sums.max():
        return ScoreRule(outputs, "probabilities", "answers", "none", _whole(float(sums.mean())))
    if low >= 0 and high <= 1:
        kind: ScoreKind = "probabilities" if outputs == 1 else "independent"
        return ScoreRule(outputs, kind, "answers", "none")
    if high <= 0 and outputs > 1 and np.allclose(np.exp(answers).sum(axis=1), 1, atol=CLOSE):
        return ScoreRule(outputs, "log_probabilities", "answers", "exp")
    return ScoreRule(outputs, "logits", "answers", "sigmoid" if outputs == 1 else "softmax")


def noise_answers(model: Model) -> Floats:
    """Compute the network's outputs [frames, outputs] for pictures of noise, the first ones darker."""
    shape = (model.input.height, model.input.width, 3)
    noise = np.random.default_rng(0)
    pictures = [
        noise.integers(0, high, shape, np.uint8) for high in np.linspace(64, 256, NOISE_PICTURES, dtype=int)
    ]
    x = reference.prepare(np.stack(pictures), model.input)
    return np.asarray(reference.run(model.graph.checked(), x), np.float32).reshape(len(x), -1)
