"""Build a prediction from a frame and its scores."""

from collections.abc import Sequence
from dataclasses import dataclass

from edged.clock import NANOSECONDS, now_ns, wall_s
from edged.hub.frames.queues import StageResult, StageResults
from edged.messages import (
    EnergyMethod,
    Frame,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    Scores,
    StageSeconds,
    WorkerHello,
    boxes_of,
    labels_of,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The node and its start that publish."""

    node: str
    boot: str


def predict(
    origin: Origin,
    seq: int,
    frame: Frame,
    index: int,
    *,
    scores: Scores,
    hello: WorkerHello,
    answered_ns: int,
    before: StageResults = (),
    tracks: Sequence[int | None] = (),
) -> Prediction:
    """Return the prediction of `frame`, number `index` of a job answered at `answered_ns`. Its times end here.

    `before`: the workers that have run the segments before the last one. `tracks`: the numbers of its boxes.
    """
    legs = (*before, StageResult(hello, scores))
    return Prediction(
        node=origin.node,
        boot=origin.boot,
        seq=seq,
        camera=frame.camera,
        frame=frame.frame,
        captured_at=frame.captured_at,
        clock_error=frame.clock_error_s,
        model=model_of(legs),
        top=labels_of(scores.frames[index], hello.model.labels),
        boxes=boxes_of(scores.boxes[index], hello.model.labels, frame.region, tracks) if scores.boxes else None,
        truth=frame.truth,
        energy=energy_of(legs, len(scores.frames)),
        seconds=stages(frame, legs, answered_ns, now_ns()),
        published_at=wall_s(),
    )


def stages(frame: Frame, legs: StageResults, answered_ns: int, published_ns: int) -> StageSeconds:
    """Return how long each stage took from the capture of `frame` to `published_ns`; `wait` is the remainder."""
    publish = max(0.0, (published_ns - answered_ns) / NANOSECONDS)
    upload_s, forward_s, download_s = seconds_of(legs)
    known = frame.preprocess_s + upload_s + forward_s + download_s + publish
    total = max(known, (published_ns - frame.captured_ns) / NANOSECONDS)  # another host's clock may be wrong
    return StageSeconds(
        capture=frame.capture_s,
        preprocess=frame.preprocess_s,
        wait=total - known,
        upload=upload_s,
        forward=forward_s,
        download=download_s,
        publish=publish,
        total=total,
    )


def seconds_of(legs: StageResults) -> tuple[float, float, float]:
    """Return the sums of upload, forward pass and download over all devices."""
    answers = [leg.answer for leg in legs]
    upload_s = sum(answer.upload_s for answer in answers)
    forward_s = sum(answer.forward_s for answer in answers)
    return upload_s, forward_s, sum(answer.download_s for answer in answers)


def model_of(legs: StageResults) -> PredictionModel:
    """Return the model that answered, with its devices in order, and the precisions without repetition."""
    hellos = [leg.hello for leg in legs]
    precisions = [hello.precision for hello in hellos]
    return PredictionModel(
        name=hellos[-1].model.name,
        sha256=hellos[-1].model.sha256,
        precision="+".join(precisions if len(set(precisions)) > 1 else precisions[:1]),
        device="+".join(hello.device for hello in hellos),
        worker="+".join(hello.worker for hello in hellos),
        random_weights=hellos[-1].model.random_weights,
        scores="independent" if hellos[-1].model.scores == "independent" else "exclusive",
    )


def energy_of(legs: StageResults, frames: int) -> PredictionEnergy:
    """Return the joules of one of so many frames on all devices; unknown if one device does not know its part."""
    joules = [leg.answer.joules for leg in legs]
    known = [each for each in joules if each is not None]
    rails = tuple(dict.fromkeys(rail for leg in legs for rail in leg.hello.attributed_rails or leg.answer.rails))
    if len(known) < len(joules):
        return PredictionEnergy(joules=None, method="none", rails=rails)
    return PredictionEnergy(joules=sum(known) / frames, method=_weakest(legs), rails=rails)


def _weakest(legs: StageResults) -> EnergyMethod:
    methods = {leg.hello.energy for leg in legs}
    order: tuple[EnergyMethod, ...] = ("none", "estimated", "measured")
    return next(method for method in order if method in methods)
