"""PyTorch in eager mode: the same operators on the same start's weights, in float32, by oneDNN and MKL.

`channels_last` lays images out as [n, height, width, channels], which some of its kernels like better.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from bench.training.case import Case
from edged.model.graph import Activate, Add, AveragePool, Conv, Dense, Flatten, MaxPool, Operator, Softmax
from edged.train.training_operators import TrainedNorm

Tensor = Any  # PyTorch is no dependency: its types are unknown where it is not installed

PLAIN: Mapping[type[Operator], Callable[..., Tensor]] = {
    Add: torch.add,
    Activate: functional.relu,
    Flatten: partial(torch.flatten, start_dim=1),
    Softmax: lambda scores: scores,  # the loss holds it
}


class PyTorch:
    """Takes steps on the processor."""

    def __init__(self, case: Case, threads: int, *, channels_last: bool) -> None:
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        self._case, self._step = case, 0
        self._format = torch.channels_last if channels_last else torch.contiguous_format
        self._images = torch.from_numpy(case.images.transpose(0, 3, 1, 2).copy())
        self._labels = torch.from_numpy(case.labels.astype(np.int64))
        self._forward = [self._operation(operator) for operator in case.network.operators]
        self._learner = self._made_learner()
        self._averages = [weight.detach().clone() for weight in self._learnt()] if case.learning.average else []

    def __call__(self, steps: int) -> float:
        """The mean loss of so many more."""
        total = torch.zeros(())
        for chosen in torch.from_numpy(self._case.order(self._step, steps).astype(np.int64)):
            total += self._learn(self._images[chosen], self._labels[chosen])
        self._step += steps
        return float(total) / steps

    def _learn(self, images: Tensor, labels: Tensor) -> Tensor:
        scores = self._scores(self._normalised(self._augmented(images)))
        loss = functional.cross_entropy(scores, labels, label_smoothing=self._case.learning.smoothing)
        self._learner.zero_grad()
        loss.backward()
        self._learner.step()
        if self._averages:
            torch._foreach_lerp_(self._averages, self._learnt(), 1 - self._case.learning.average)
        return loss.detach()

    def _normalised(self, images: Tensor) -> Tensor:
        model_input = self._case.model_input
        mean, std = (torch.tensor(values)[:, None, None] for values in (model_input.mean, model_input.std))
        return ((images.float() * model_input.scale - mean) / std).contiguous(memory_format=self._format)

    def _augmented(self, images: Tensor) -> Tensor:
        """By indexing, a batch at once."""
        count, _, height, width = images.shape
        augment, frames = self._case.learning.augment, torch.arange(count)[:, None, None]
        rows, columns = torch.arange(height).repeat(count, 1), torch.arange(width).repeat(count, 1)
        if augment.flip:
            columns = torch.where(torch.rand(count, 1) < 0.5, width - 1 - columns, columns)
        if augment.shift:
            images = functional.pad(images, (augment.shift,) * 4)
            rows, columns = (
                axis + torch.randint(0, 2 * augment.shift + 1, (count, 1)) for axis in (rows, columns)
            )
        if augment.flip or augment.shift:
            images = images[frames, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
        return images

    def _scores(self, images: Tensor) -> Tensor:
        network = self._case.network
        tensors = {network.input: images}
        for operator, operation in zip(network.operators, self._forward, strict=True):
            tensors[operator.output] = operation(*(tensors[name] for name in operator.inputs))
        return tensors[network.output]

    def _operation(self, operator: Operator) -> Callable[..., Tensor]:
        match operator:
            case Conv(strides=strides, pads=pads):
                assert pads[:2] == pads[2:], "even pads alone"
                conv = partial(functional.conv2d, stride=strides, padding=pads[:2])
                return partial(conv, **self._weights(operator))
            case Dense():
                return partial(functional.linear, **self._weights(operator))
            case TrainedNorm():
                return self._norm(operator)
            case MaxPool(kernel=kernel, strides=strides):
                return partial(functional.max_pool2d, kernel_size=kernel, stride=strides)
            case AveragePool(kernel=kernel, strides=strides):
                return partial(functional.avg_pool2d, kernel_size=kernel, stride=strides)
        return PLAIN[type(operator)]

    def _weights(self, operator: Conv | Dense) -> dict[str, Tensor]:
        return {"weight": self._parameter(operator.weight), "bias": self._parameter(operator.bias)}

    def _norm(self, norm: TrainedNorm) -> Callable[..., Tensor]:
        scale, offset = self._parameter(norm.scale), self._parameter(norm.offset)
        mean, variance = (torch.from_numpy(values.copy()) for values in (norm.mean, norm.variance))
        given = {"weight": scale, "bias": offset, "momentum": norm.momentum, "eps": norm.epsilon}
        return partial(functional.batch_norm, running_mean=mean, running_var=variance, training=True, **given)

    def _parameter(self, values: Any) -> Tensor:
        value = torch.from_numpy(values.copy())
        if value.ndim == 4:
            value = value.contiguous(memory_format=self._format)
        return value.requires_grad_()

    def _learnt(self) -> list[Tensor]:
        given = (operation.keywords.values() for operation in self._forward if isinstance(operation, partial))
        return [each for values in given for each in values if torch.is_tensor(each) and each.requires_grad]

    def _made_learner(self) -> Any:
        learning, rate = self._case.learning, self._case.learning.rate / 10
        decays = {2: learning.weight_decay, 1: 0.0}
        groups = [
            {"params": [one for one in self._learnt() if min(one.ndim, 2) == axes], "weight_decay": decay}
            for axes, decay in decays.items()
        ]
        if learning.optimizer == "sgd":
            return torch.optim.SGD(groups, rate, learning.momentum, nesterov=learning.nesterov)
        kind = torch.optim.Adam if learning.optimizer == "adam" else torch.optim.AdamW
        return kind(groups, rate)
