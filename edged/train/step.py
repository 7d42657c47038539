"""The launches of a training step, its backward pass included, and of the evaluation of a batch."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from edged.engine.gradients import BACKWARD
from edged.engine.gradients.batch import BatchImages, cross_entropy, gather, gather_features, gather_vectors
from edged.engine.gradients.conv_gradient import halo_of_given
from edged.engine.gradients.grouped_conv import within_groups
from edged.engine.gradients.norm import norm_gradient
from edged.engine.gradients.slope import Slope, join_gradients
from edged.engine.gradients.update import moving_average
from edged.engine.gradients.without_weights import dropout_gradient
from edged.engine.launch import Launch, Resident
from edged.engine.layout import NO_HALO, Halo, Tensor
from edged.engine.variants.channels import SOFTMAX
from edged.engine.variants.variant import Site
from edged.model.activations import LINEAR
from edged.model.graph import Activate, Add, Conv, Dense, Operator, Softmax
from edged.model.package import Input
from edged.train.lowering import Lowered, Residents, forward_launches
from edged.train.optimizer import Optimizer, update_launches
from edged.train.parameters import VALUE, ParameterStore
from edged.train.training_operators import Dropout, TrainedNorm

ANY_SIZE = 0  # size of a buffer that differs between data sets

_BACKWARD = {**BACKWARD, TrainedNorm: norm_gradient, Dropout: dropout_gradient}
Halos = Mapping[str, Halo]


@dataclass(frozen=True)
class Augmentation:
    """Random changes of images: mirrored in half of the cases, moved by up to `shift` pixels."""

    flip: bool = False
    shift: int = 0


@dataclass(frozen=True)
class Regularization:
    """Settings against overfitting, besides dropout and weight decay.

    smoothing: of the labels. average: the share that the moving average of all weights keeps at each step; 0 keeps
    none, else it is the average that is evaluated and exported. seed: of the augmentation and of dropout.
    """

    smoothing: float = 0.0
    average: float = 0.0
    augmentation: Augmentation = Augmentation()
    seed: int = 0


def step_launches(
    lowered: Lowered,
    store: ParameterStore,
    model_input: Input | None,
    optimizer: Optimizer,
    regularization: Regularization,
) -> tuple[Launch, ...]:
    """Return the launches of a step: forward and backward pass, and the update of all parameters."""
    parameters = store.residents("parameters")
    scores = lowered.tensors[lowered.graph.output]
    of_scores, back = backward_launches(lowered, parameters, store.residents("gradients"))
    order, sums = Resident("order", ANY_SIZE), Resident("sums", lowered.batch * 2 * VALUE)
    weights, averages = (Resident(buffer, store.count * VALUE) for buffer in ("parameters", "averages"))
    loss = partial(cross_entropy, scores, of_scores, Resident("labels", ANY_SIZE), order, sums)
    return (
        *_gather(lowered, model_input, "images", order, regularization.augmentation),
        *forward_launches(lowered, parameters, training=True),
        *loss(regularization.smoothing, lowered.device),
        *back,
        *update_launches(optimizer, store.decayed, store.learnt, lowered.device),
        *((moving_average(weights, averages, lowered.device),) if regularization.average else ()),
    )


def evaluation_launches(
    lowered: Lowered, store: ParameterStore, model_input: Input | None, averaged: bool
) -> tuple[tuple[Launch, ...], Tensor]:
    """Return the launches of a forward pass with running statistics, and the tensor of its probabilities."""
    learnt = store.residents("averages" if averaged else "parameters")
    scores = lowered.tensors[lowered.graph.output]
    output = Tensor("probabilities", 1, scores.channels, 1, scores.width, scores.block)
    softmax = Site(Softmax("softmax", (scores.name,), output.name), (scores,), output, lowered.device)
    launches = (
        *_gather(lowered, model_input, "others", Resident("others order", ANY_SIZE), Augmentation()),
        *forward_launches(lowered, learnt, training=False),
        *SOFTMAX.launches(softmax, {}),
    )
    return launches, output


def _gather(
    lowered: Lowered, model_input: Input | None, images: str, order: Resident, augment: Augmentation
) -> tuple[Launch, ...]:
    target, source = lowered.tensors[lowered.graph.input], Resident(images, ANY_SIZE)
    if model_input is None:
        return gather_features(source, order, target, lowered.device)
    whole = gather if len(lowered.graph.shapes[lowered.graph.input]) == 3 else gather_vectors
    return whole(BatchImages(source, order, model_input, augment.flip, augment.shift), target, lowered.device)


def backward_launches(
    lowered: Lowered, parameters: Mapping[str, Residents], gradients: Mapping[str, Residents]
) -> tuple[Tensor, tuple[Launch, ...]]:
    """Return where the loss writes the gradient of the logits, and the launches that follow.

    `parameters`, `gradients`: by operator and role.
    """
    first = _Pass(lowered, parameters, gradients, {})
    first.run()
    whole = _Pass(lowered, parameters, gradients, first.halos)
    whole.run()
    return whole.of_logits, tuple(whole.launches)


class _Pass:
    """One pass from the end to the start.

    It finds the halos that kernels need around gradients, `halos` by the gradients' names; the next pass allocates
    them.
    """

    def __init__(
        self,
        lowered: Lowered,
        parameters: Mapping[str, Residents],
        gradients: Mapping[str, Residents],
        given_halos: Halos,
    ) -> None:
        self._lowered, self._tensors = lowered, lowered.tensors
        self._parameters, self._gradients = parameters, gradients
        self._given_halos = given_halos
        self._learning = _learning(lowered)
        self._activations = {each.output: getattr(each, "activation", LINEAR) for each in lowered.graph.operators}
        self.halos: dict[str, Halo] = {}
        self.launches: list[Launch] = []
        self.of_logits = self._gradient_of(lowered.graph.output, "loss")
        # by tensor: its gradient so far, and whether that is the one before the tensor's activation
        self._so_far: dict[str, tuple[Tensor, bool]] = {}
        self._give(lowered.graph.output, self.of_logits)

    def run(self) -> None:
        for operator in reversed(self._lowered.graph.operators):
            if operator.output in self._learning:
                self._step(operator)

    def _step(self, operator: Operator) -> None:
        given = self._whole(operator)
        if isinstance(operator, Activate | Add):
            for name in operator.inputs:
                if name in self._learning:
                    self._hand_on(operator, name, given)
            return
        slope = self._slope(operator, given, operator.inputs[0])
        if isinstance(slope.operator, Conv):
            halo = halo_of_given(slope.operator, slope.source, slope.output) if slope.input_gradient else NO_HALO
            self.halos[given.name] = self.halos.get(given.name, NO_HALO) | halo
        self.launches += _BACKWARD[type(slope.operator)](slope)
        if isinstance(operator, Conv) and slope.operator.groups < operator.groups:
            self.launches.append(within_groups(operator, slope))

    def _slope(self, operator: Operator, given: Tensor, source: str) -> Slope[Any]:
        """Return the backward pass of an operator that writes the gradient of `source` itself, if any."""
        input_gradient, plus = None, None
        if source in self._learning:
            input_gradient = self._gradient_of(source, operator.name)
            plus, _ = self._so_far.get(source, (None, False))
            self._so_far[source] = input_gradient, True
        return Slope(
            self._lowered.conv(operator) if isinstance(operator, Conv | Dense) else operator,
            self._tensors[source],
            self._tensors[operator.output],
            given,
            input_gradient,
            self._lowered.device,
            plus,
            self._activations.get(source, LINEAR),
            self._parameters.get(operator.name, {}),
            self._gradients.get(operator.name, {}),
        )

    def _hand_on(self, operator: Operator, source: str, given: Tensor) -> None:
        """Pass the gradient of the output on as that of the input."""
        if source in self._so_far:
            self._join(operator, source, given)
        else:
            self._give(source, given)

    def _give(self, tensor: str, gradient: Tensor) -> None:
        """Note the first gradient of a tensor, which has not passed its activation."""
        self._so_far[tensor] = gradient, self._activations.get(tensor, LINEAR) == LINEAR

    def _whole(self, operator: Operator) -> Tensor:
        """Return the gradient of the output of `operator`, after all readers have contributed."""
        given, is_before_activation = self._so_far[operator.output]
        if not is_before_activation:
            del self._so_far[operator.output]
            self._join(operator, operator.output, given)
        return self._so_far[operator.output][0]

    def _join(self, operator: Operator, source: str, given: Tensor) -> None:
        slope = self._slope(replace(operator, name=f"{operator.name}:join"), given, source)
        if slope.input_gradient:
            self.launches.append(join_gradients(slope, slope.input_gradient))

    def _gradient_of(self, tensor: str, giver: str) -> Tensor:
        name = f"{tensor}:gradient of {giver}"
        return replace(self._tensors[tensor], name=name, halo=self._given_halos.get(name, NO_HALO))


def _learning(lowered: Lowered) -> set[str]:
    """Return the tensors that depend on a parameter."""
    names: set[str] = set()
    for operator in lowered.graph.operators:
        if hasattr(operator, "weight") or hasattr(operator, "scale") or names & set(operator.inputs):
            names.add(operator.output)
    return names
