"""The training data of a head, or why training is impossible; its training, in NumPy or on an OpenCL device.

A verdict counts how many held-back crops a model classifies correctly, by their features: all share one backbone.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from edged.arithmetic import ceil_div
from edged.model import reference
from edged.model.cuts import part
from edged.model.graph import Dense
from edged.model.head import Head, features_of
from edged.model.head_versions import Version
from edged.model.package import Model
from edged.model.reference import softmax
from edged.model.shapes import make_graph
from edged.system.plain_text import aligned
from edged.teach.features import Vector
from edged.teach.store import CropStore
from edged.teach.store_crop import Crop
from edged.teach.store_files import StoreError

if TYPE_CHECKING:
    from edged.engine.device import Device


SHOWN = 3

Doubles = NDArray[np.float64]
OTHER = "other"
SOURCE = "features"


@dataclass(frozen=True, eq=False)
class LabelledFeatures:
    """Features with their labels. `features`: [n, features]. `classes`: the index of each label, int32 [n]."""

    labels: tuple[str, ...]
    features: Vector
    classes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.classes)


def split(store: CropStore, features: dict[str, Vector]) -> tuple[LabelledFeatures, LabelledFeatures]:
    """Return the crops to train on, and those held back, in an order independent of the recording."""
    labels = tuple(sorted({crop.label for crop in store.crops}))
    crops = sorted(store.crops, key=lambda crop: (crop.sha256, crop.label))

    def examples(ours: list[Crop]) -> LabelledFeatures:
        width = len(next(iter(features.values())))
        rows = np.array([features[crop.sha256] for crop in ours], np.float32).reshape(-1, width)
        return LabelledFeatures(labels, rows, np.array([labels.index(crop.label) for crop in ours], np.int32))

    return examples([c for c in crops if not c.held_back]), examples([c for c in crops if c.held_back])


def check(store: CropStore) -> None:
    """Raise StoreError, which names labels and files, if training is not possible."""
    if store.problems:
        raise StoreError(_first(map(str, store.problems)))
    _check_labels(store)
    _check_twins(store)


def _check_labels(store: CropStore) -> None:
    by_label: dict[str, list[Crop]] = {}
    for crop in store.crops:
        by_label.setdefault(crop.label, []).append(crop)
    if len(by_label) < 2:
        have = f"one label alone, {next(iter(by_label))}" if by_label else "no crops yet"
        raise StoreError(
            f"{store.folder} has {have}: record two labels at least, as by `edged teach record CONFIG "
            "--camera NAME --label open`"
        )
    for label, crops in sorted(by_label.items()):
        if len(crops) < 2:
            raise StoreError(
                f"the label {label} has one crop alone ({store.path(crops[0])}): record more, or "
                f"`edged teach forget CONFIG {label!r}`"
            )
        if all(crop.held_back for crop in crops):
            raise StoreError(
                f"all {len(crops)} crops of the label {label} are held back for judging: record some more"
            )


def _check_twins(store: CropStore) -> None:
    """Raise StoreError if the same pixels have two labels."""
    twins = [
        f"{store.path(crop)} is also under {', '.join(others)}"
        for crop in store.crops
        if (others := [label for label in store.labels_of(crop.sha256) if label > crop.label])
    ]
    if twins:
        raise StoreError(
            f"the same picture lies under two labels: {_first(twins)}; which one is right? Remove the other, "
            "as by `edged teach forget CONFIG LABEL/BEGINNING-OF-ITS-NAME`, or that label"
        )


def _first(texts: Iterable[str]) -> str:
    found = list(texts)
    more = f" (and {len(found) - SHOWN} more)" if len(found) > SHOWN else ""
    return "; ".join(found[:SHOWN]) + more


@dataclass(frozen=True)
class FitSettings:
    """How a head is trained.

    `hidden`: values between the layers. `rate` falls to zero as a half cosine. `decay`: of weights only.
    """

    hidden: int = 64
    steps: int = 600
    batch: int = 32
    rate: float = 0.003
    decay: float = 0.01
    seed: int = 1

    def orders(self, examples: int) -> NDArray[np.int32]:
        """Return indices [steps, batch]: permutations of all examples, one after another."""
        rng = np.random.default_rng([self.seed, 1])
        rounds = ceil_div(self.steps * self.batch, examples)
        order = np.concatenate([rng.permutation(examples) for _ in range(rounds)])
        return order[: self.steps * self.batch].reshape(self.steps, self.batch).astype(np.int32)

    def rates(self) -> NDArray[np.float32]:
        """Return the learning rate of each step (Loshchilov and Hutter 2017, without restarts)."""
        shares = np.arange(self.steps) / self.steps
        return (self.rate * (1 + np.cos(np.pi * shares)) / 2).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Scale:
    """Scales features to mean 0 and deviation 1 over the training data; `folded` puts it into the weights."""

    mean: Doubles
    deviation: Doubles

    @classmethod
    def of(cls, features: Vector) -> "Scale":
        """Fit the scale to features; a constant one is only centred."""
        deviation = features.std(axis=0, dtype=np.float64)
        return cls(features.mean(axis=0, dtype=np.float64), np.where(deviation > 1e-6, deviation, 1.0))

    def apply(self, features: Vector) -> Vector:
        """Scale features for the head in training."""
        return np.asarray((features - self.mean) / self.deviation, np.float32)

    def folded(self, head: Head) -> Head:
        """Return a head with the same answers for unscaled features.

        W · (x − m) ÷ d + b = (W ÷ d) · x + b − (W ÷ d) · m.
        """
        weight = head.hidden_weight / self.deviation
        bias = head.hidden_bias - weight @ self.mean
        return Head(weight.astype(np.float32), bias.astype(np.float32), head.weight, head.bias)


def first_head(features: int, classes: int, recipe: FitSettings) -> Head:
    """Return random weights for a ReLU (He et al. 2015), and zero biases."""
    rng = np.random.default_rng([recipe.seed, 0])

    def weights(outputs: int, inputs: int) -> NDArray[np.float32]:
        return np.asarray(rng.standard_normal((outputs, inputs)) * np.sqrt(2 / inputs), np.float32)

    hidden = recipe.hidden
    zeros = np.zeros(hidden, np.float32), np.zeros(classes, np.float32)
    return Head(weights(hidden, features), zeros[0], weights(classes, hidden), zeros[1])


def fit_numpy(examples: LabelledFeatures, recipe: FitSettings) -> Head:
    """Train by Adam with decoupled weight decay (Kingma and Ba 2014; Loshchilov and Hutter 2017), in float64."""
    scale = Scale.of(examples.features)
    x = scale.apply(examples.features).astype(np.float64)
    head = first_head(x.shape[1], len(examples.labels), recipe)
    parameters = [p.astype(np.float64) for p in (head.hidden_weight, head.hidden_bias, head.weight, head.bias)]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    for step, (order, rate) in enumerate(zip(recipe.orders(len(x)), recipe.rates(), strict=True), 1):
        for index, gradient in enumerate(gradients(parameters, x[order], examples.classes[order])):
            first[index] += 0.1 * (gradient - first[index])
            second[index] += 0.001 * (gradient**2 - second[index])
            if gradient.ndim == 2:
                parameters[index] *= 1 - rate * recipe.decay
            mean, square = first[index] / (1 - 0.9**step), second[index] / (1 - 0.999**step)
            parameters[index] -= rate * mean / (np.sqrt(square) + 1e-8)
    return scale.folded(Head(*(p.astype(np.float32) for p in parameters)))


def gradients(parameters: list[Doubles], x: Doubles, classes: NDArray[np.int32]) -> list[Doubles]:
    """Return the gradients of the mean cross-entropy: for scores, the shares minus 1 at the correct class."""
    hidden_weight, hidden_bias, weight, bias = parameters
    hidden = np.maximum(x @ hidden_weight.T + hidden_bias, 0)
    scores = hidden @ weight.T + bias
    shares = softmax(scores)
    shares[np.arange(len(x)), classes] -= 1
    shares /= len(x)
    before = (shares @ weight) * (hidden > 0)
    return [before.T @ x, before.sum(axis=0), shares.T @ hidden, shares.sum(axis=0)]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained head, with the seconds until its kernels were compiled, and those of the training after that."""

    head: Head
    compile_s: float
    train_s: float


def fit(examples: LabelledFeatures, recipe: FitSettings, device: "Device | None") -> Fitted:
    """Train a head on `device`, or in NumPy if it is None. Raises DeviceError."""
    if device is not None:
        return fit_on(device, examples, recipe)
    start = time.monotonic()
    head = fit_numpy(examples, recipe)
    return Fitted(head, 0.0, time.monotonic() - start)


def fit_on(device: "Device", examples: LabelledFeatures, recipe: FitSettings) -> Fitted:
    """Train a head as `fit_numpy` does, in single precision. Raises DeviceError."""
    from edged.train.optimizer import Adam  # imports pyopencl, which a machine without OpenCL may lack
    from edged.train.trainer import Trainer

    start = time.monotonic()
    scale = Scale.of(examples.features)
    features = scale.apply(examples.features)
    head = first_head(features.shape[1], len(examples.labels), recipe)
    graph = make_graph("head", SOURCE, features.shape[1:], head.operators(SOURCE))
    trainer = Trainer(graph, device, recipe.batch, Adam(weight_decay=recipe.decay, decoupled=True))
    trainer.load(features, examples.classes, None)
    orders, rates = recipe.orders(len(features)), recipe.rates()
    trainer.train(orders[:1], rates[:1])
    trainer.figures()  # waits: a driver may compile a kernel when it first runs
    compiled = time.monotonic()
    if len(rates) > 1:
        trainer.train(orders[1:], rates[1:])
    hidden, scores = (each for each in trainer.graph().operators if isinstance(each, Dense))
    trained = scale.folded(Head(hidden.weight, hidden.bias, scores.weight, scores.bias))
    return Fitted(trained, compiled - start, time.monotonic() - compiled)


@dataclass(frozen=True)
class Verdict:
    """The answers of a model to the held-back crops. `answers`: one for each; `truth`: its label."""

    truth: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def right(self) -> int:
        """Return the number of correct answers."""
        return sum(a == b for a, b in zip(self.truth, self.answers, strict=True))

    @property
    def accuracy(self) -> float:
        """Return the share of correct answers; 0 without crops."""
        return self.right / len(self.truth) if self.truth else 0.0

    def table(self, labels: Sequence[str]) -> str:
        """Format a row for each label: how often each answer was given.

        One column counts all answers that are none of these labels.
        """
        columns = [*labels, *([OTHER] if set(self.answers) - set(labels) else [])]
        rows = [["", *columns, "right"]]
        for label in labels:
            answers = [
                a if a in labels else OTHER for t, a in zip(self.truth, self.answers, strict=True) if t == label
            ]
            share = f"{answers.count(label) / len(answers):.0%}" if answers else "none held back"
            rows.append([label, *(str(answers.count(each) or "·") for each in columns), share])
        return "\n".join(aligned(rows, left=1))

    def __str__(self) -> str:
        return f"{self.right} of {len(self.truth)} ({self.accuracy:.1%})"


def verdict_of_head(head: Head, labels: Sequence[str], held_back: LabelledFeatures) -> Verdict:
    """Evaluate a head on the examples that are held back."""
    return _verdict(head.shares(held_back.features), labels, held_back)


def verdict_of_model(model: Model, held_back: LabelledFeatures) -> Verdict:
    """Evaluate the layers after the features of the config's own model."""
    graph = model.graph.checked()
    rest = part(graph, features_of(graph), None)
    return _verdict(reference.run(rest, held_back.features), model.labels, held_back)


def verdict_of_version(version: Version, content: bytes, held_back: LabelledFeatures) -> Verdict:
    """Evaluate a version whose head has this content. Raises ModelError for a damaged one."""
    head = Head.from_bytes(content, version.features, version.hidden, len(version.labels))
    return verdict_of_head(head, version.labels, held_back)


def _verdict(scores: Vector, labels: Sequence[str], held_back: LabelledFeatures) -> Verdict:
    truth = tuple(held_back.labels[index] for index in held_back.classes)
    return Verdict(truth, tuple(labels[index] for index in scores.reshape(len(held_back), -1).argmax(axis=1)))
