"""What leaves the hub: predictions, in order, into the journal, to subscribers and into the figures; events."""

import logging
import time
from functools import cache
from typing import get_args

from edged.hub.journal import Journal
from edged.hub.journal_failure import Reason
from edged.hub.journal_layout import Row
from edged.hub.label_counts import LabelCounts
from edged.hub.leg import Legs
from edged.hub.notice import Notice
from edged.hub.prediction import Origin, is_right, predict
from edged.hub.publisher import Publisher
from edged.hub.standing import Standing
from edged.hub.tally import Tally
from edged.messages import Frame, Prediction, Scores, WorkerHello, to_json
from edged.metrics import Metrics

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
        labels: LabelCounts,
    ) -> None:
        self._origin = Origin(node, publisher.boot)
        self._publisher = publisher
        self._journal = journal
        self._metrics = metrics
        self._tally = tally
        self._first_seq = self._next_seq = journal.next_seq
        self._unsent: list[tuple[Prediction, bytes]] = []
        # a label costs more to look up than to count, and these are counted with each frame
        self._stage_of, self._predictions_of = cache(metrics.stage.labels), cache(metrics.predictions.labels)
        self._score_of = cache(metrics.score.labels)
        self._truth_of = cache(
            lambda camera: [metrics.known_truth.labels(camera, each) for each in ("wrong", "right")]
        )
        self._labels = labels
        for reason in get_args(Reason):
            metrics.journal_errors.labels(reason)

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
        self._next_seq += 1
        self._unsent.append((prediction, to_json(prediction)))
        self._tally.add(prediction)
        self._count(prediction)
        if len(self._unsent) == COMMIT:
            self.flush()

    def flush(self) -> None:
        """Publish what is ready: the journal has it before anybody else, or it says that it has not."""
        if not self._unsent:
            return
        unsent, self._unsent = self._unsent, []
        start = time.perf_counter()
        reason = self._journal.append([Row(each.seq, each.published_at, json) for each, json in unsent])
        if reason:
            self._metrics.journal_errors.labels(reason).inc(len(unsent))
        else:
            self._metrics.journal_seconds.observe(time.perf_counter() - start)
        for prediction, json in unsent:
            kept = to_json(prediction.model_copy(update={"journaled": False})) if reason else json
            self._publisher.prediction(prediction.camera, kept)

    def announce(self, notice: Notice) -> None:
        """Log an event and publish it, after what came before it."""
        self.flush()
        log.log(logging.WARNING if notice.is_bad else logging.INFO, "%s", notice.message)
        self._publisher.event(notice)

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
        self._metrics.journal_limit.set(self._journal.limit_bytes)
        self._metrics.journal_disk_free.set(self._journal.disk_free_bytes)

    def _count(self, prediction: Prediction) -> None:
        metrics, camera = self._metrics, prediction.camera
        self._predictions_of(camera, prediction.model.name).inc()
        for stage, seconds in prediction.seconds:
            self._stage_of(camera, stage).observe(seconds)
        if prediction.top:
            self._score_of(camera).observe(prediction.top[0].score)
            self._labels.add(camera, prediction.top[0].label)
        if prediction.energy.joules is not None:
            metrics.inference_joules.labels(prediction.energy.method).observe(prediction.energy.joules)
        right = is_right(prediction)
        if right is not None:
            self._truth_of(camera)[right].inc()
