"""Train a network on a device: all data stay there between two reports."""

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.engine.layout import Tensor
from edged.errors import ModelError
from edged.model.graph import Float32, Graph, Operator
from edged.model.package import Input
from edged.train.config import Learning
from edged.train.lowering import lower, trained_form
from edged.train.machine import LaunchQueue, TrainingDevice
from edged.train.optimizer import Adam, Optimizer, Sgd, moments_of, update_scalars
from edged.train.parameters import TrainedState, store_of
from edged.train.results import Evaluation, StepFigures, evaluation_of
from edged.train.step import Augmentation, Regularization, evaluation_launches, step_launches

Array = NDArray[Any]
State = dict[str, Array]

NO_REGULARIZATION = Regularization()
UPLOAD_BYTES = 2**26  # bytes of images that are evaluated at once


class Trainer:
    """`graph` in training on `device`, in steps of `batch` images.

    Equal calls give equal weights, bit for bit, on one device; and so does `restore` on the way.
    Raises ModelError for a network that cannot be trained, DeviceError if the device or its compiler fails.
    """

    def __init__(
        self,
        graph: Graph,
        device: Device,
        batch: int,
        optimizer: Optimizer,
        *,
        regularization: Regularization = NO_REGULARIZATION,
        cache: Path | None = None,
    ) -> None:
        self._graph, self._batch, self._optimizer = graph.checked(), batch, optimizer
        self._regularization = regularization
        self._lowered = lower(trained_form(self._graph), device, batch)
        self._store = store_of(self._lowered)
        self._machine = TrainingDevice(device, cache)
        self._learnt = TrainedState(self._store, self._machine, moments_of(optimizer), regularization.average > 0)
        self._machine.upload("sums", self._no_sums())
        self._step, self._seen = 0, 0
        self._model_input: Input | None = None
        self._training: LaunchQueue | None = None
        self._evaluation: tuple[LaunchQueue, Tensor] | None = None

    def load(self, images: Array, labels: NDArray[np.int32], model_input: Input | None) -> None:
        """Set the training data: uint8 [n, height, width, channels], normalised as `model_input`.

        Without `model_input`: float32 features [n, f]. labels: [n].
        """
        if model_input != self._model_input:
            self._training = self._evaluation = None
        self._model_input = model_input
        self._check(images, labels)
        self._machine.upload("images", images)
        self._machine.upload("labels", labels.astype(np.int32, copy=False))

    def train(self, order: NDArray[np.int32], rates: NDArray[np.float32]) -> None:
        """Take a step for each row of `order`, [steps, batch], indices of the images; rates: [steps].

        Reads nothing back.
        """
        if order.ndim != 2 or order.shape[1] != self._batch or len(rates) != len(order):
            raise ValueError(f"order {order.shape}, rates {rates.shape}; expected [steps, {self._batch}], [steps]")
        routine = self._training = self._training or self._training_routine()
        self._machine.upload("order", order.astype(np.int32, copy=False))
        for row, rate in enumerate(rates):
            self._step += 1
            routine.enqueue(self._scalars(row, float(rate)))
        self._seen += order.size

    def figures(self) -> StepFigures:
        """Return the figures since the last call. Waits for the device."""
        loss, right = self._machine.read("sums", np.float32).reshape(-1, 2).sum(axis=0, dtype=np.float64)
        self._machine.write("sums", self._no_sums())
        seen, self._seen = self._seen, 0
        return StepFigures(float(loss) / max(1, seen), float(right) / max(1, seen), seen)

    def evaluate(self, images: Array, labels: NDArray[np.int32]) -> Evaluation:
        """Evaluate the network, with its running statistics, on other images than the training data."""
        self._check(images, labels)
        chunk = max(1, UPLOAD_BYTES // images[:1].nbytes // self._batch) * self._batch
        parts = [self._probabilities(images[start : start + chunk]) for start in range(0, len(images), chunk)]
        return evaluation_of(np.concatenate(parts), labels)

    def state(self) -> State:
        """Return everything that `restore` needs to continue: arrays by name, in the operators' own layouts."""
        return {"step": np.array(self._step), **self._learnt.arrays()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from the result of `state`. Raises ModelError if it is of another network or optimizer."""
        self._learnt.restore(state, self._graph.name)
        self._machine.write("sums", self._no_sums())
        self._step, self._seen = int(state["step"]), 0

    def graph(self) -> Graph:
        """Return the trained network (its average, if there is one), with separate norms."""
        learnt = self._learnt.best()
        operators = tuple(_with_arrays(operator, learnt) for operator in self._graph.operators)
        return replace(self._graph, operators=operators)

    def _probabilities(self, images: Array) -> Float32:
        """Return [n, classes], computed in batches of which the last is filled up with the first images."""
        routine, output = self._evaluation = self._evaluation or self._evaluation_routine()
        starts = range(0, len(images), self._batch)
        self._machine.upload("others", images)
        self._machine.upload("others order", np.arange(len(starts) * self._batch, dtype=np.int32) % len(images))
        parts = []
        for start in starts:
            routine.enqueue({"first": np.int32(start)})
            parts.append(routine.image(output)[0, :, 0].T)
        return np.concatenate(parts)[: len(images)]

    def _evaluation_routine(self) -> tuple[LaunchQueue, Tensor]:
        averaged = self._regularization.average > 0
        launches, output = evaluation_launches(self._lowered, self._store, self._model_input, averaged)
        return LaunchQueue(self._graph.name, launches, self._machine), output

    def _training_routine(self) -> LaunchQueue:
        launches = step_launches(
            self._lowered, self._store, self._model_input, self._optimizer, self._regularization
        )
        return LaunchQueue(self._graph.name, launches, self._machine)

    def _scalars(self, row: int, rate: float) -> dict[str, np.generic]:
        kept = min(
            self._regularization.average, (1 + self._step) / (10 + self._step)
        )  # the start is soon outweighed
        return {
            "first": np.int32(row * self._batch),
            "seed": np.uint32(self._regularization.seed & 0xFFFFFFFF),
            "step": np.uint32(self._step),
            "kept": np.float32(kept),
            **update_scalars(self._optimizer, self._step, rate),
        }

    def _no_sums(self) -> Float32:
        """Return zero sums of loss and right answers for each place in the batch."""
        return np.zeros((self._batch, 2), np.float32)

    def _check(self, images: Array, labels: Array) -> None:
        shape = self._graph.shapes[self._graph.input]
        are_features = self._model_input is None and len(shape) == 1
        expected = shape if are_features else (*shape[1:], shape[0])
        dtype = np.dtype(np.float32 if are_features else np.uint8)
        fits = images.shape[1:] == expected and images.dtype == dtype and len(labels) == len(images) > 0
        if not fits or (self._model_input is None and not are_features):
            raise ModelError(
                f"{self._graph.name}: {len(labels)} labels for images of {images.dtype} {images.shape}; "
                f"expected one each, of {dtype} {('n', *expected)}"
                f"{'' if are_features or self._model_input else ', and how they are normalised'}"
            )


def _with_arrays(operator: Operator, learnt: Mapping[str, Float32]) -> Operator:
    """Return `operator` with the parameters stored under its name."""
    names = {field.name: f"{operator.name}.{field.name}" for field in fields(operator)}
    arrays: dict[str, Any] = {role: learnt[name] for role, name in names.items() if name in learnt}
    return replace(operator, **arrays)


def trainer_of(graph: Graph, device: Device, learning: Learning) -> Trainer:
    """Create the trainer of `graph` with the settings `learning`. Raises ModelError, DeviceError."""
    return Trainer(
        graph,
        device,
        learning.batch,
        _optimizer(learning),
        regularization=Regularization(
            learning.smoothing,
            learning.average,
            Augmentation(learning.augment.flip, learning.augment.shift),
            learning.seed,
        ),
    )


def _optimizer(learning: Learning) -> Optimizer:
    if learning.optimizer == "sgd":
        return Sgd(learning.momentum, learning.nesterov, learning.weight_decay)
    return Adam(weight_decay=learning.weight_decay, decoupled=learning.optimizer == "adamw")
