"""What leaves the hub: predictions, in order, into the journal, to subscribers and into the figures; events."""

import logging
from typing import get_args

from edged.clock import now_ns, seconds_since
from edged.hub.figures.prediction_figures import PredictionFigures
from edged.hub.figures.standing import Standing
from edged.hub.figures.tally import Tally
from edged.hub.frames.leg import Legs
from edged.hub.journal.failure import Reason
from edged.hub.journal.journal import Journal
from edged.hub.journal.layout import Row
from edged.hub.recording.notes import note_prediction
from edged.hub.stream.notice import Notice
from edged.hub.stream.prediction import Origin, predict
from edged.hub.stream.publisher import Publisher
from edged.messages import Frame, Prediction, Scores, Shadowed, WorkerHello, to_json
from edged.metrics import Metrics
from edged.notebook import Notebook

COMMIT = 32  # predictions, together at most: none waits long for the others

log = logging.getLogger("edged.hub")


class Outlet:
    """Numbers and publishes. A journal that fails does not stop the stream.

    Predictions of one turn of the hub's loop share a commit: under load it is what costs most.
    """

    def __init__(
        self,
        node: str,
        publisher: Publisher,
        journal: Journal,
        metrics: Metrics,
        tally: Tally,
        labels: int,
        notebook: Notebook,
    ) -> None:
        self.node = node
        self._notebook = notebook
        self._origin = Origin(node, publisher.boot)
        self._publisher = publisher
        self._journal = journal
        self._metrics = metrics
        self._tally = tally
        self._first_seq = self._next_seq = journal.next_seq
        self.answered_by, self.answers_since = "", self._next_seq  # the model of the last one, and its first
        self._unsent: list[tuple[Prediction, bytes]] = []
        self._figures = PredictionFigures(metrics, labels)
        for reason in get_args(Reason):
            metrics.journal_errors.labels(reason)

    @property
    def next_seq(self) -> int:
        """Of the next prediction."""
        return self._next_seq

    def publish(
        self, frame: Frame, place: int, scores: Scores, hello: WorkerHello, answered_ns: int, before: Legs
    ) -> None:
        """Publish, at the next `flush`, the prediction of `frame`, number `place` of the job answered just now.

        `before`: who has run the segments of the network before the last one.
        """
        prediction = predict(
            self._origin,
            self._next_seq,
            frame,
            place,
            scores=scores,
            hello=hello,
            answered_ns=answered_ns,
            before=before,
        )
        if self.answered_by != prediction.model.sha256:
            self.answered_by, self.answers_since = prediction.model.sha256, prediction.seq
        self._next_seq += 1
        self._unsent.append((prediction, to_json(prediction)))
        self._tally.add(prediction)
        self._figures.add(prediction)
        if self._notebook.is_open:
            note_prediction(self._notebook, prediction, answered_ns)
        if len(self._unsent) == COMMIT:
            self.flush()

    def flush(self) -> None:
        """Publish what is ready: the journal has it before anybody else, or it says that it has not."""
        if not self._unsent:
            return
        unsent, self._unsent = self._unsent, []
        start_ns = now_ns()
        reason = self._journal.append([Row(each.seq, each.published_at, json) for each, json in unsent])
        if reason:
            self._metrics.journal_errors.labels(reason).inc(len(unsent))
        else:
            self._metrics.journal_seconds.observe(seconds_since(start_ns))
        if self._notebook.is_open:
            self._notebook.note("journal", start_ns, now_ns(), predictions=len(unsent), error=reason or "")
        for prediction, json in unsent:
            kept = to_json(prediction.model_copy(update={"journaled": False})) if reason else json
            self._publisher.prediction(prediction.camera, kept)

    def count(self) -> None:
        """Bring the metrics of predictions up to date."""
        self._figures.count()

    def announce(self, notice: Notice) -> None:
        """Log an event and publish it, after what came before it."""
        self.flush()
        log.log(logging.WARNING if notice.is_bad else logging.INFO, "%s", notice.message)
        self._publisher.event(notice)

    def shadow(self, answers: Shadowed, answered_by: str, shadow: str) -> None:
        """Publish what two models answer to a frame, of which one is only looked at. Once a frame: not logged."""
        self._publisher.shadow(answers, answered_by, shadow)

    def status(self, standing: Standing) -> None:
        """Publish that this node is alive and how it stands, and what has become of its journal."""
        self.tell_of_the_journal()
        last_frames = {name: camera.last_frame for name, camera in self._tally.cameras.items()}
        self._publisher.status(self._first_seq, self._next_seq - 1, last_frames, standing)

    def tell_of_the_journal(self) -> None:
        """Announce what has happened to it."""
        for notice in self._journal.notices():
            self.announce(notice)
        self._metrics.journal_bytes.set(self._journal.bytes())
        self._metrics.journal_aside.set(self._journal.bytes_aside())
        self._metrics.journal_limit.set(self._journal.limit_bytes)
        self._metrics.journal_disk_free.set(self._journal.disk_free_bytes)
