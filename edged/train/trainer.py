"""A network in training on a device: everything between two looks at it stays there."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.engine.device import Device
from edged.errors import ModelError
from edged.model.graph import Float32, Graph, Operator
from edged.model.package import Input
from edged.train.lowering import lower
from edged.train.machine import Machine
from edged.train.network import trained_form
from edged.train.optimizer import Optimizer
from edged.train.parameters import store_of
from edged.train.routine import Routine
from edged.train.step import Augment, evaluation_launches, step_launches
from edged.train.update import moments_of, update_scalars

Array = NDArray[Any]
State = dict[str, Array]


@dataclass(frozen=True)
class Figures:
    """Of the images trained on since the last look: the mean loss, the share that came right, how many."""

    loss: float
    accuracy: float
    images: int


@dataclass(frozen=True, eq=False)
class Evaluation:
    """probabilities: [n, classes]; loss: mean cross-entropy; accuracy: share of images whose label is on top."""

    probabilities: Float32
    loss: float
    accuracy: float


class Trainer:
    """`graph` in training on `device`, in steps of `batch` images.

    smoothing: of the labels. average: the share that the moving average of all weights keeps at each step; 0 keeps
    none, else it is the average that is evaluated and given. flip, shift: see `gather`. seed: of those.
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
        smoothing: float = 0.0,
        average: float = 0.0,
        flip: bool = False,
        shift: int = 0,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        self._graph, self._batch, self._optimizer = graph.checked(), batch, optimizer
        self._smoothing, self._average, self._augment = smoothing, average, Augment(flip, shift)
        self._seed = np.uint32(seed & 0xFFFFFFFF)
        self._lowered = lower(trained_form(self._graph), device, batch)
        self._store = store_of(self._lowered)
        self._machine = Machine(device, cache)
        self._step, self._seen = 0, 0
        self._wanted: Input | None = None
        self._training: Routine | None = None
        self._evaluation: Routine | None = None
        self._reset()

    def load(self, images: Array, labels: NDArray[np.int32], wanted: Input | None) -> None:
        """What to train on: uint8 [n, height, width, channels], normalised as `wanted`, or with None float32
        features [n, f]; labels: [n].
        """
        if wanted != self._wanted:
            self._training = self._evaluation = None
        self._wanted = wanted
        self._check(images, labels)
        self._machine.hold("images", images)
        self._machine.hold("labels", labels.astype(np.int32, copy=False))

    def train(self, order: NDArray[np.int32], rates: NDArray[np.float32]) -> None:
        """A step for each row of `order`, [steps, batch], indices of the images; rates: [steps]. Reads nothing."""
        if order.ndim != 2 or order.shape[1] != self._batch or len(rates) != len(order):
            raise ValueError(f"order {order.shape}, rates {rates.shape}; expected [steps, {self._batch}], [steps]")
        routine = self._training = self._training or self._training_routine()
        self._machine.hold("order", order.astype(np.int32, copy=False))
        for row, rate in enumerate(rates):
            self._step += 1
            routine.enqueue(self._scalars(row, float(rate)))
        self._seen += order.size

    def figures(self) -> Figures:
        """What came of it since the last call. Waits for the device."""
        loss, right = self._machine.read("sums", np.float32).reshape(-1, 2).sum(axis=0, dtype=np.float64)
        self._machine.write("sums", np.zeros((self._batch, 2), np.float32))
        seen, self._seen = self._seen, 0
        return Figures(float(loss) / max(1, seen), float(right) / max(1, seen), seen)

    def evaluate(self, images: Array, labels: NDArray[np.int32]) -> Evaluation:
        """What the network, with its running statistics, makes of other images than those it trains on."""
        self._check(images, labels)
        if self._evaluation is None:
            averaged = self._average > 0
            launches, self._scores = evaluation_launches(self._lowered, self._store, self._wanted, averaged)
            self._evaluation = Routine(self._graph.name, launches, self._machine)
        steps = -(-len(images) // self._batch)
        self._machine.hold("others", images)
        self._machine.hold("others order", np.arange(steps * self._batch, dtype=np.int32) % len(images))
        scores = []
        for step in range(steps):
            self._evaluation.enqueue({"first": np.int32(step * self._batch)})
            scores.append(self._evaluation.image(self._scores)[0, :, 0, :].T)
        probabilities = np.concatenate(scores)[: len(images)]
        return _evaluation(probabilities, labels)

    def state(self) -> State:
        """All that a later `restore` needs to go on from here: arrays by name, in the operators' own layouts."""
        learnt = self._store.unpack(self._machine.read("parameters", np.float32))
        state: State = {"step": np.array(self._step), **learnt}
        for index, moment in enumerate(self._moments()):
            state |= {f"moment {index} of {name}": array for name, array in self._store.unpack(moment).items()}
        if self._average:
            averages = self._store.unpack(self._machine.read("averages", np.float32))
            state |= {f"average of {name}": array for name, array in averages.items()}
        return state

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from what `state` gave. Raises ModelError where it is of another network or optimizer."""
        expected = self.state()
        for name, array in expected.items():
            if name not in state or state[name].shape != array.shape:
                found = state[name].shape if name in state else "nothing"
                raise ModelError(f"{self._graph.name}: cannot go on: {name} is {found}, expected {array.shape}")
        self._step, self._seen = int(state["step"]), 0
        pack, count = self._store.pack, self._store.learnt
        self._machine.write("parameters", pack(state))
        moments = [pack(_by_name(state, f"moment {index} of "))[:count] for index in range(len(self._moments()))]
        if moments:
            self._machine.write("moments", np.concatenate(moments))
        if self._average:
            self._machine.write("averages", pack(_by_name(state, "average of ")))
        self._machine.write("sums", np.zeros((self._batch, 2), np.float32))

    def graph(self) -> Graph:
        """The network with what it has learnt (the average of it, if there is one), norms still apart."""
        buffer = "averages" if self._average else "parameters"
        learnt = self._store.unpack(self._machine.read(buffer, np.float32))
        operators = tuple(_with_arrays(operator, learnt) for operator in self._graph.operators)
        return replace(self._graph, operators=operators)

    def _reset(self) -> None:
        """The device as it is before the first step."""
        start = self._store.pack({one.name: one.values for one in self._store.parameters})
        self._machine.hold("parameters", start)
        self._machine.hold("gradients", np.zeros(self._store.learnt, np.float32))
        moments = max(1, moments_of(self._optimizer) * self._store.learnt)
        self._machine.hold("moments", np.zeros(moments, np.float32))
        self._machine.hold("sums", np.zeros((self._batch, 2), np.float32))
        if self._average:
            self._machine.hold("averages", start)

    def _training_routine(self) -> Routine:
        how = self._optimizer, self._smoothing, self._augment, self._average > 0
        launches = step_launches(self._lowered, self._store, self._wanted, *how)
        return Routine(self._graph.name, launches, self._machine)

    def _scalars(self, row: int, rate: float) -> dict[str, np.generic]:
        kept = min(self._average, (1 + self._step) / (10 + self._step))  # the start is soon forgotten
        return {
            "first": np.int32(row * self._batch),
            "seed": self._seed,
            "step": np.uint32(self._step),
            "kept": np.float32(kept),
            **update_scalars(self._optimizer, self._step, rate),
        }

    def _moments(self) -> list[Float32]:
        count = self._store.learnt
        memory = self._machine.read("moments", np.float32)
        return [memory[i * count : (i + 1) * count] for i in range(moments_of(self._optimizer))]

    def _check(self, images: Array, labels: Array) -> None:
        shape = self._graph.shapes[self._graph.input]
        wanted = shape if self._wanted is None else (*shape[1:], shape[0])
        dtype = np.float32 if self._wanted is None else np.uint8
        if images.shape[1:] != wanted or images.dtype != dtype or len(labels) != len(images):
            raise ModelError(
                f"{self._graph.name}: {len(labels)} labels for images of {images.dtype} {images.shape}; "
                f"expected as many as images, of {np.dtype(dtype)} {('n', *wanted)}"
            )


def _by_name(state: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in state.items() if name.startswith(prefix)}


def _evaluation(probabilities: Float32, labels: NDArray[np.int32]) -> Evaluation:
    right = probabilities[np.arange(len(labels)), labels].astype(np.float64)
    loss = -np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()
    return Evaluation(probabilities, float(loss), float((probabilities.argmax(axis=1) == labels).mean()))


def _with_arrays(operator: Operator, learnt: Mapping[str, Float32]) -> Operator:
    """`operator` with the arrays that are learnt under its name."""
    names = {field.name: f"{operator.name}.{field.name}" for field in fields(operator)}
    arrays: dict[str, Any] = {role: learnt[name] for role, name in names.items() if name in learnt}
    return replace(operator, **arrays)
