"""What each prediction adds to the metrics."""

from functools import cache
from operator import attrgetter

from edged.hub.figures.label_counts import LabelCounts
from edged.hub.stream.prediction import is_right
from edged.messages import STAGES, Prediction
from edged.metrics import Metrics

TOGETHER = 32  # one alone costs ten times as much: what it needs has left the processor's caches

_seconds_of = attrgetter(*STAGES)


class PredictionFigures:
    """Counts those that are published, some at a time.

    A label costs more to look up than to count, so each is looked up once.
    """

    def __init__(self, metrics: Metrics, labels: int) -> None:
        """`labels`: of each camera, that are counted by name."""
        self._new: list[Prediction] = []
        self._labels = LabelCounts(metrics.labels, labels)
        self._published = cache(metrics.predictions.labels)
        self._score = cache(metrics.score.labels)
        self._joules = cache(metrics.inference_joules.labels)
        self._stages = cache(lambda camera: [metrics.stage.labels(camera, stage).observe for stage in STAGES])
        self._truth = cache(
            lambda camera: [metrics.known_truth.labels(camera, result) for result in ("wrong", "right")]
        )

    def add(self, prediction: Prediction) -> None:
        """One more, which the metrics show after the next `count`: soon, if there are many."""
        self._new.append(prediction)
        if len(self._new) == TOGETHER:
            self.count()

    def count(self) -> None:
        """Bring the metrics up to date."""
        new, self._new = self._new, []
        for prediction in new:
            self._count(prediction)

    def _count(self, prediction: Prediction) -> None:
        camera = prediction.camera
        self._published(camera, prediction.model.name).inc()
        for observe, seconds in zip(self._stages(camera), _seconds_of(prediction.seconds), strict=True):
            observe(seconds)
        if prediction.top:
            self._score(camera).observe(prediction.top[0].score)
            self._labels.add(camera, prediction.top[0].label)
        if prediction.energy.joules is not None:
            self._joules(prediction.energy.method).observe(prediction.energy.joules)
        right = is_right(prediction)
        if right is not None:
            self._truth(camera)[right].inc()
