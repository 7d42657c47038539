"""Count what each frame, job and prediction adds to the metrics and to the summary of the run."""

from collections.abc import Iterable, Mapping
from functools import cache
from operator import attrgetter

from edged.clock import NANOSECONDS
from edged.hub.frames.ledger import Ledger
from edged.hub.frames.queues import Held
from edged.hub.stats.hosts import HostEnergy
from edged.hub.stats.summary import Tally
from edged.messages import STAGES, Features, Prediction, Scores
from edged.messages.published import is_right
from edged.metrics import Metrics
from edged.metrics.fast import Family, ScalarSeries

OTHER = "other"


class LabelCounts:
    """A model may know thousands of labels, and Prometheus keeps each that it has ever seen.

    So of each camera the first `most` that come up have a name, and all that come later share one.
    """

    def __init__(self, counter: Family[ScalarSeries], most: int) -> None:
        self._counter = counter
        self._most = most
        self._named: dict[str, dict[str, ScalarSeries]] = {}  # by camera and label
        self._others: dict[str, ScalarSeries] = {}

    def add(self, camera: str, label: str) -> None:
        """One more prediction."""
        named = self._named.setdefault(camera, {})
        if label not in named and len(named) < self._most:
            named[label] = self._counter.labels(camera, label)
        (named.get(label) or self._other(camera)).inc()

    def _other(self, camera: str) -> ScalarSeries:
        if camera not in self._others:
            self._others[camera] = self._counter.labels(camera, OTHER)
        return self._others[camera]


TOGETHER = 32  # one alone costs ten times as much: what it needs has left the processor's caches

_seconds_of = attrgetter(*STAGES)


class PredictionFigures:
    """Counts those that are published, some at a time.

    A label costs more to look up than to count, so each is looked up once.
    """

    def __init__(self, metrics: Metrics, labels: int) -> None:
        """`labels`: of each camera, that are counted by name."""
        self._new: list[tuple[Prediction, bool | None]] = []
        self._labels = LabelCounts(metrics.labels, labels)
        self._published = cache(metrics.predictions.labels)
        self._score = cache(metrics.score.labels)
        self._joules = cache(metrics.inference_joules.labels)
        self._stages = cache(lambda camera: [metrics.stage.labels(camera, stage).observe for stage in STAGES])
        self._truth = cache(
            lambda camera: [metrics.known_truth.labels(camera, result) for result in ("wrong", "right")]
        )

    def add(self, prediction: Prediction, right: bool | None) -> None:
        """Add one, which the metrics show after the next `count`. `right`: as `is_right` says."""
        self._new.append((prediction, right))
        if len(self._new) == TOGETHER:
            self.count()

    def count(self) -> None:
        """Bring the metrics up to date."""
        new, self._new = self._new, []
        for prediction, right in new:
            self._count(prediction, right)

    def _count(self, prediction: Prediction, right: bool | None) -> None:
        camera = prediction.camera
        self._published(camera, prediction.model.name).inc()
        for observe, seconds in zip(self._stages(camera), _seconds_of(prediction.seconds), strict=True):
            observe(seconds)
        if prediction.top:
            self._score(camera).observe(prediction.top[0].score)
            self._labels.add(camera, prediction.top[0].label)
        if prediction.energy.joules is not None:
            self._joules(prediction.energy.method).observe(prediction.energy.joules)
        if right is not None:
            self._truth(camera)[right].inc()


JOBS_TOGETHER = 32  # as predictions are (prediction_figures.py)

Answered = tuple[str, int, float, float]  # worker, frames, seconds of the job and of its device


class JobFigures:
    """Counts the jobs that are answered, some at a time."""

    def __init__(self, metrics: Metrics) -> None:
        self._new: list[Answered] = []
        # a label costs more to look up than to count
        self._seconds = cache(metrics.job_seconds.labels)
        self._jobs = cache(metrics.jobs.labels)
        self._device_seconds = cache(metrics.job_device_seconds.labels)

    def answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """A job of `frames`, `seconds` after it was handed out. The metrics show it after the next `count`."""
        self._new.append((worker, frames, seconds, answer.upload_s + answer.forward_s + answer.download_s))
        if len(self._new) == JOBS_TOGETHER:
            self.count()

    def count(self) -> None:
        """Bring the metrics up to date."""
        new, self._new = self._new, []
        for worker, frames, seconds, device_s in new:
            self._seconds(worker).observe(seconds)
            self._jobs(worker, frames).inc()
            self._device_seconds(worker, frames).inc(device_s)


class Stats:
    """Everything that is counted of frames, jobs and predictions: metrics, the summary of the run, energy."""

    def __init__(self, metrics: Metrics, cameras: Iterable[str], *, labels: int, node: str) -> None:
        """`labels`: of each camera, that are counted by name. `node`: what the hub's own host is called."""
        self.summary = Tally(cameras)
        self.energy = HostEnergy(metrics.energy, node)
        self.captured_at: dict[str, float] = {}  # the newest frame of each camera, in seconds since 1970
        self._metrics = metrics
        self._predictions = PredictionFigures(metrics, labels)
        self._jobs = JobFigures(metrics)
        self._age_of = cache(metrics.frame_age.labels)

    def job_sent(self, frames: Iterable[Held], sent_ns: int) -> None:
        """Count the frames of a job that a worker begins with, by their age."""
        for held in frames:
            age = (sent_ns - held.frame.captured_ns) / NANOSECONDS
            self._age_of(held.frame.camera).observe(max(0.0, age))
            if held.lost:
                self._metrics.retried.labels(held.frame.camera).inc()

    def job_answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """Count a job of `frames` that was answered `seconds` after it was assigned."""
        self._jobs.answered(worker, frames, answer, seconds)

    def published(self, prediction: Prediction) -> None:
        """Count a prediction that was sent, in all that counts predictions."""
        right = is_right(prediction)
        self.summary.add(prediction, right)
        self._predictions.add(prediction, right)

    def update_metrics(self, ledgers: Mapping[str, Ledger]) -> None:
        """Show in the metrics all that was counted until now. `ledgers`: by camera."""
        for name, ledger in ledgers.items():
            self._metrics.count_frames(name, ledger.captured, ledger.dropped, ledger.pending)
        for name, at in self.captured_at.items():
            self._metrics.last_frame.labels(name).set(at)
        self._predictions.count()
        self._jobs.count()
