"""What leaves the hub: predictions, in order, into the journal, to subscribers and into the figures; events."""

import logging
import sqlite3
import time
from functools import cache

from edged.hub.journal import Journal
from edged.hub.notice import Notice
from edged.hub.prediction import Origin, is_right, predict
from edged.hub.publisher import Publisher
from edged.hub.tally import Tally
from edged.messages import Frame, Prediction, Scores, WorkerHello, to_json
from edged.metrics import Metrics

log = logging.getLogger("edged.hub")


class Outlet:
    """Numbers and publishes. A journal that fails does not stop the stream."""

    def __init__(self, node: str, publisher: Publisher, journal: Journal, metrics: Metrics, tally: Tally) -> None:
        self._origin = Origin(node, publisher.boot)
        self._publisher = publisher
        self._journal = journal
        self._metrics = metrics
        self._tally = tally
        self._first_seq = self._next_seq = journal.next_seq
        self._journal_fails = False
        # a label costs more to look up than to count, and these are counted with each frame
        self._stage_of = cache(metrics.stage.labels)

    def publish(self, frame: Frame, place: int, scores: Scores, hello: WorkerHello) -> None:
        """Publish the prediction of `frame`, number `place` of the job that `scores` answer."""
        prediction = predict(self._origin, self._next_seq, frame, place, scores=scores, hello=hello)
        json = to_json(prediction)
        self._next_seq += 1
        self._keep(prediction, json)
        self._publisher.prediction(frame.camera, json)
        self._tally.add(prediction)
        self._count(prediction)

    def announce(self, notice: Notice) -> None:
        """Log an event and publish it."""
        log.log(logging.WARNING if notice.is_bad else logging.INFO, "%s", notice.message)
        self._publisher.event(notice)

    def status(self) -> None:
        """Publish that this node is alive."""
        last_frames = {name: camera.last_frame for name, camera in self._tally.cameras.items()}
        self._publisher.status(self._first_seq, self._next_seq - 1, last_frames)

    def _keep(self, prediction: Prediction, json: bytes) -> None:
        start = time.perf_counter()
        try:
            self._journal.append(prediction.seq, prediction.published_at, json)
        except sqlite3.Error as error:
            self._metrics.journal_errors.inc()
            if not self._journal_fails:
                log.warning("the journal fails (%s): predictions go on, but cannot be fetched again", error)
            self._journal_fails = True
            return
        self._metrics.journal_seconds.observe(time.perf_counter() - start)
        if self._journal_fails:
            log.info("the journal works again")
        self._journal_fails = False

    def _count(self, prediction: Prediction) -> None:
        metrics, camera = self._metrics, prediction.camera
        metrics.predictions.labels(camera, prediction.model.name).inc()
        for stage, seconds in prediction.seconds:
            self._stage_of(camera, stage).observe(seconds)
        if prediction.energy.joules is not None:
            metrics.inference_joules.labels(prediction.energy.method).observe(prediction.energy.joules)
        right = is_right(prediction)
        if right is not None:
            metrics.known_truth.labels(camera, "right" if right else "wrong").inc()
