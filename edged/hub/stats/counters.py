"""Count what each frame, job and prediction adds to the metrics, the summary of the run and its trace."""

from collections.abc import Iterable, Mapping
from functools import cache
from operator import attrgetter
from typing import get_args

from edged.clock import NANOSECONDS, now_ns, seconds_since
from edged.hub.frames.jobs import Assigned
from edged.hub.frames.ledger import Ledger
from edged.hub.journal.journal import Journal
from edged.hub.journal.schema import Reason
from edged.hub.stats.hosts import HostEnergy
from edged.hub.stats.summary import Tally
from edged.messages import STAGES, Features, LinkMessage, Prediction, Scores
from edged.messages.published import answers_of, is_right
from edged.metrics import Metrics
from edged.metrics.fast import Family, ScalarSeries
from edged.transport.spans import Notebook, note_message, note_prediction

OTHER = "other"


class LabelCounts:
    """Limits the labels of each camera in the metrics.

    A model may have thousands of labels, and Prometheus keeps each one for ever. So the first `most` labels of a
    camera are counted by name, and all later ones together.
    """

    def __init__(self, counter: Family[ScalarSeries], most: int) -> None:
        self._counter = counter
        self._most = most
        self._named: dict[str, dict[str, ScalarSeries]] = {}  # by camera and label
        self._others: dict[str, ScalarSeries] = {}

    def add(self, camera: str, label: str) -> None:
        named = self._named.setdefault(camera, {})
        if label not in named and len(named) < self._most:
            named[label] = self._counter.labels(camera, label)
        (named.get(label) or self._other(camera)).inc()

    def _other(self, camera: str) -> ScalarSeries:
        if camera not in self._others:
            self._others[camera] = self._counter.labels(camera, OTHER)
        return self._others[camera]


TOGETHER = 32  # one at a time costs ten times as much, since its data has left the processor's caches

_seconds_of = attrgetter(*STAGES)


class PredictionFigures:
    """Counts published predictions in batches.

    Finding a label's counter costs more than counting, so each is found once per batch.
    """

    def __init__(self, metrics: Metrics, labels: int) -> None:
        """`labels`: how many labels of each camera are counted by name."""
        self._new: list[tuple[Prediction, bool | None]] = []
        self._labels = LabelCounts(metrics.labels, labels)
        self._boxes = LabelCounts(metrics.boxes, labels)
        self._published = cache(metrics.predictions.labels)
        self._score = cache(metrics.score.labels)
        self._joules = cache(metrics.inference_joules.labels)
        self._stages = cache(lambda camera: [metrics.stage.labels(camera, stage).observe for stage in STAGES])
        self._truth = cache(
            lambda camera: [metrics.known_truth.labels(camera, result) for result in ("wrong", "right")]
        )

    def add(self, prediction: Prediction, right: bool | None) -> None:
        """Add one, which the metrics show after the next `count`. `right`: see `is_right`."""
        self._new.append((prediction, right))
        if len(self._new) == TOGETHER:
            self.count()

    def count(self) -> None:
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
            for answer in answers_of(prediction):
                self._labels.add(camera, answer.label)
        for box in prediction.boxes or ():
            self._boxes.add(camera, box.label)
        if prediction.energy.joules is not None:
            self._joules(prediction.energy.method).observe(prediction.energy.joules)
        if right is not None:
            self._truth(camera)[right].inc()


JOBS_TOGETHER = 32  # in batches, as predictions are

Answered = tuple[str, int, float, float, float]  # worker, frames, seconds of the job, its device, and its boxes


class JobFigures:
    """Counts answered jobs in batches."""

    def __init__(self, metrics: Metrics) -> None:
        self._new: list[Answered] = []
        # finding a label's counter costs more than counting
        self._seconds = cache(metrics.job_seconds.labels)
        self._jobs = cache(metrics.jobs.labels)
        self._device_seconds = cache(metrics.job_device_seconds.labels)
        self._decode_seconds = cache(metrics.decode_seconds.labels)

    def answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """Add a job of `frames`, answered `seconds` after it was assigned.

        The metrics show it after the next `count`.
        """
        device_s = answer.upload_s + answer.forward_s + answer.download_s
        decode_s = answer.decode_s if isinstance(answer, Scores) else 0.0
        self._new.append((worker, frames, seconds, device_s, decode_s))
        if len(self._new) == JOBS_TOGETHER:
            self.count()

    def count(self) -> None:
        new, self._new = self._new, []
        for worker, frames, seconds, device_s, decode_s in new:
            self._seconds(worker).observe(seconds)
            self._jobs(worker, frames).inc()
            self._device_seconds(worker, frames).inc(device_s)
            if decode_s:
                self._decode_seconds(worker).observe(decode_s)


class Stats:
    """Everything that is counted of frames, jobs and predictions: metrics, the summary of the run, energy.

    While a client records (`notebook`), each step of a frame becomes a span, too.
    """

    def __init__(
        self, metrics: Metrics, cameras: Iterable[str], notebook: Notebook, *, labels: int, node: str
    ) -> None:
        """`labels`: how many labels of each camera are counted by name. `node`: name of the hub's own host."""
        self.summary = Tally(cameras)
        self.energy = HostEnergy(metrics, node)
        # capture time of each camera's newest frame, in seconds since 1970
        self.captured_at: dict[str, float] = {}
        self._metrics = metrics
        self._notebook = notebook
        self._predictions = PredictionFigures(metrics, labels)
        self._jobs = JobFigures(metrics)
        self._age_of = cache(metrics.frame_age.labels)
        for reason in get_args(Reason):
            metrics.journal_errors.labels(reason)

    def received(self, message: LinkMessage, begun_ns: int) -> None:
        """Note a frame or an answer whose handling began at `begun_ns`."""
        if self._notebook.is_open:
            note_message(self._notebook, message, begun_ns)

    def job_sent(self, assigned: Assigned, begun_ns: int) -> None:
        """Count the frames of a job that a worker begins with, by their age.

        `begun_ns`: when the router began to choose the job.
        """
        sent_ns = now_ns()
        if self._notebook.is_open:
            frames = tuple((held.frame.camera, held.frame.frame) for held in assigned.frames)
            self._notebook.note("assign", begun_ns, sent_ns, frames=frames, job=assigned.job)
        if assigned.passing:
            return
        for held in assigned.frames:
            age = (sent_ns - held.frame.captured_ns) / NANOSECONDS
            self._age_of(held.frame.camera).observe(max(0.0, age))
            if held.lost:
                self._metrics.retried.labels(held.frame.camera).inc()

    def job_answered(self, worker: str, frames: int, answer: Scores | Features, seconds: float) -> None:
        """Count a job of `frames` that was answered `seconds` after it was assigned."""
        self._jobs.answered(worker, frames, answer, seconds)

    def journaled(self, predictions: int, begun_ns: int, error: Reason | None) -> None:
        """Count a commit of the journal, begun at `begun_ns`. `error`: why it does not have the predictions."""
        if error:
            self._metrics.journal_errors.labels(error).inc(predictions)
        else:
            self._metrics.journal_seconds.observe(seconds_since(begun_ns))
        if self._notebook.is_open:
            self._notebook.note("journal", begun_ns, now_ns(), predictions=predictions, error=error or "")

    def not_sent(self, predictions: int) -> None:
        """Count predictions for which the stream has no room."""
        self._metrics.stream_unsent.labels("prediction").inc(predictions)

    def published(self, sent: Prediction, made: Prediction, answered_ns: int) -> None:
        """Count a prediction that was sent, in all that counts predictions.

        `made`: the same, before it was sent; its job was answered at `answered_ns`.
        """
        right = is_right(sent)
        self.summary.add(sent, right)
        self._predictions.add(sent, right)
        if self._notebook.is_open:
            note_prediction(self._notebook, sent, answered_ns, made)

    def show_journal(self, journal: Journal) -> None:
        """Show the size of the journal in the metrics, and the space that it has."""
        self._metrics.journal_bytes.set(journal.bytes())
        self._metrics.journal_aside.set(journal.bytes_aside())
        self._metrics.journal_limit.set(journal.limit_bytes)
        self._metrics.journal_disk_free.set(journal.disk_free_bytes)

    def update_metrics(self, ledgers: Mapping[str, Ledger]) -> None:
        """Update the metrics with everything counted until now. `ledgers`: by camera."""
        for name, ledger in ledgers.items():
            self._metrics.count_frames(name, ledger.captured, ledger.dropped, ledger.pending)
        for name, at in self.captured_at.items():
            self._metrics.last_frame.labels(name).set(at)
        self._predictions.count()
        self._jobs.count()
