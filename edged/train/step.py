"""The launches of a training step, and of the evaluation of a batch."""

from dataclasses import dataclass
from functools import partial

from edged.engine.gradients.cross_entropy import cross_entropy
from edged.engine.gradients.gather import BatchImages, gather
from edged.engine.gradients.gather_features import gather_features
from edged.engine.gradients.gather_vectors import gather_vectors
from edged.engine.gradients.moving_average import moving_average
from edged.engine.launch import Launch, Resident
from edged.engine.layout import Tensor
from edged.engine.variants.softmax import SOFTMAX
from edged.engine.variants.variant import Site
from edged.model.graph import Softmax
from edged.model.package import Input
from edged.train.backward_pass import backward_launches
from edged.train.lowering import Lowered, forward_launches
from edged.train.optimizer import Optimizer, update_launches
from edged.train.parameters import VALUE, ParameterStore

ANY_SIZE = 0  # size of a buffer that differs between data sets


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
    wanted: Input | None,
    optimizer: Optimizer,
    regularization: Regularization,
) -> tuple[Launch, ...]:
    """Return the launches of a step: forward and backward pass, and the update of all parameters."""
    parameters = store.residents("parameters")
    scores = lowered.tensors[lowered.graph.output]
    of_scores, back = backward_launches(lowered, parameters, store.residents("gradients"))
    order, sums = Resident("order", ANY_SIZE), Resident("sums", lowered.batch * 2 * VALUE)
    loss = partial(cross_entropy, scores, of_scores, Resident("labels", ANY_SIZE), order, sums)
    return (
        *_gather(lowered, wanted, "images", order, regularization.augmentation),
        *forward_launches(lowered, parameters, training=True),
        *loss(regularization.smoothing, lowered.device),
        *back,
        *update_launches(optimizer, store.decayed, store.learnt, lowered.device),
        *(_averages(lowered, store) if regularization.average else ()),
    )


def evaluation_launches(
    lowered: Lowered, store: ParameterStore, wanted: Input | None, averaged: bool
) -> tuple[tuple[Launch, ...], Tensor]:
    """Return the launches of a forward pass with running statistics, and the tensor of its probabilities."""
    learnt = store.residents("averages" if averaged else "parameters")
    scores = lowered.tensors[lowered.graph.output]
    output = Tensor("probabilities", 1, scores.channels, 1, scores.width, scores.block)
    softmax = Site(Softmax("softmax", (scores.name,), output.name), (scores,), output, lowered.device)
    launches = (
        *_gather(lowered, wanted, "others", Resident("others order", ANY_SIZE), Augmentation()),
        *forward_launches(lowered, learnt, training=False),
        *SOFTMAX.launches(softmax, {}),
    )
    return launches, output


def _gather(
    lowered: Lowered, wanted: Input | None, images: str, order: Resident, augment: Augmentation
) -> tuple[Launch, ...]:
    target, source = lowered.tensors[lowered.graph.input], Resident(images, ANY_SIZE)
    if wanted is None:
        return gather_features(source, order, target, lowered.device)
    whole = gather if len(lowered.graph.shapes[lowered.graph.input]) == 3 else gather_vectors
    return whole(BatchImages(source, order, wanted, augment.flip, augment.shift), target, lowered.device)


def _averages(lowered: Lowered, store: ParameterStore) -> tuple[Launch, ...]:
    weights, averages = (Resident(buffer, store.count * VALUE) for buffer in ("parameters", "averages"))
    return (moving_average(weights, averages, lowered.device),)
