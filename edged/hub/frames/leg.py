"""What one worker has done for the frames of a job: the whole network, or its part of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from edged.messages import EnergyMethod, Features, PredictionEnergy, PredictionModel, Scores, WorkerHello

Legs = Sequence["Leg"]


@dataclass(frozen=True, slots=True, eq=False)
class Leg:
    """Who it was, and what it has answered."""

    hello: WorkerHello
    answer: Scores | Features


def seconds_of(legs: Legs) -> tuple[float, float, float]:
    """Upload, forward pass and download, on all devices together."""
    answers = [leg.answer for leg in legs]
    upload_s = sum(answer.upload_s for answer in answers)
    forward_s = sum(answer.forward_s for answer in answers)
    return upload_s, forward_s, sum(answer.download_s for answer in answers)


def model_of(legs: Legs) -> PredictionModel:
    """Which model has answered, on what: devices in their order, a precision that all have but once."""
    hellos = [leg.hello for leg in legs]
    precisions = [hello.precision for hello in hellos]
    return PredictionModel(
        name=hellos[-1].model.name,
        sha256=hellos[-1].model.sha256,
        precision="+".join(precisions if len(set(precisions)) > 1 else precisions[:1]),
        device="+".join(hello.device for hello in hellos),
        worker="+".join(hello.worker for hello in hellos),
        random_weights=hellos[-1].model.random_weights,
    )


def energy_of(legs: Legs, frames: int) -> PredictionEnergy:
    """What one of so many frames has cost on all devices; nothing is known where one of them knows nothing."""
    joules = [leg.answer.joules for leg in legs]
    known = [each for each in joules if each is not None]
    rails = tuple(dict.fromkeys(rail for leg in legs for rail in leg.hello.bears or leg.answer.rails))
    if len(known) < len(joules):
        return PredictionEnergy(joules=None, method="none", rails=rails)
    return PredictionEnergy(joules=sum(known) / frames, method=_weakest(legs), rails=rails)


def _weakest(legs: Legs) -> EnergyMethod:
    methods = {leg.hello.energy for leg in legs}
    order: tuple[EnergyMethod, ...] = ("none", "estimated", "measured")
    return next(method for method in order if method in methods)
