"""From a frame and its scores to what is published."""

from dataclasses import dataclass

from edged.clock import NANOSECONDS, now_ns, wall_s
from edged.messages import (
    Frame,
    Label,
    Prediction,
    PredictionEnergy,
    PredictionModel,
    Score,
    Scores,
    StageSeconds,
    WorkerHello,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who publishes."""

    node: str
    boot: str


def model_of(hello: WorkerHello) -> PredictionModel:
    """Which model answers, on what."""
    return PredictionModel(
        name=hello.model.name,
        sha256=hello.model.sha256,
        precision=hello.precision,
        device=hello.device,
        worker=hello.worker,
        random_weights=hello.model.random_weights,
    )


def labels_of(top: tuple[Score, ...], labels: tuple[str, ...]) -> tuple[Label, ...]:
    """Scores with the names of their classes."""
    return tuple(Label(label=labels[each.index], index=each.index, score=each.score) for each in top)


def predict(
    origin: Origin, seq: int, frame: Frame, place: int, *, scores: Scores, hello: WorkerHello, answered_ns: int
) -> Prediction:
    """The prediction of `frame`, number `place` of a job answered at `answered_ns`. Its times end here."""
    joules = None if scores.joules is None else scores.joules / len(scores.frames)
    return Prediction(
        node=origin.node,
        boot=origin.boot,
        seq=seq,
        camera=frame.camera,
        frame=frame.frame,
        captured_at=frame.captured_at,
        clock_error=frame.clock_error_s,
        model=model_of(hello),
        top=labels_of(scores.frames[place], hello.model.labels),
        truth=frame.truth,
        energy=PredictionEnergy(
            joules=joules, method="none" if joules is None else hello.energy, rails=tuple(scores.rails)
        ),
        seconds=stages(frame, scores, answered_ns, now_ns()),
        published_at=wall_s(),
    )


def is_right(prediction: Prediction) -> bool | None:
    """Whether the best label is the right one; None where nobody knows, or where the weights are random."""
    if prediction.truth is None or prediction.model.random_weights or not prediction.top:
        return None
    return prediction.top[0].label == prediction.truth


def stages(frame: Frame, scores: Scores, answered_ns: int, published_ns: int) -> StageSeconds:
    """Where the time went from the capture of `frame` to `published_ns`; `wait` is what is left over."""
    publish = max(0.0, (published_ns - answered_ns) / NANOSECONDS)
    known = frame.preprocess_s + scores.upload_s + scores.forward_s + scores.download_s + publish
    total = max(known, (published_ns - frame.captured_ns) / NANOSECONDS)  # another host's clock may be wrong
    return StageSeconds(
        capture=frame.capture_s,
        preprocess=frame.preprocess_s,
        wait=total - known,
        upload=scores.upload_s,
        forward=scores.forward_s,
        download=scores.download_s,
        publish=publish,
        total=total,
    )
