"""The newest state and pictures of a node and the last hour of its cameras, kept once for all browsers.

Pictures and their predictions arrive on two connections, in any order.
"""

import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from statistics import median
from uuid import uuid4

from edged.client.board import Board
from edged.client.node_state import NodeState
from edged.client.subscription import Arrival, SnapshotPicture, StreamMessage
from edged.messages import Event, Prediction, Status
from edged.messages.published import answers_of
from edged.view.seen import SeenPictures

MINUTE_S = 60
MINUTES = 60
HOUR_S = MINUTES * MINUTE_S

REMEMBERED = 64  # predictions whose picture may still arrive
KEPT = 8  # pictures that a browser may be about to fetch
ALONE_S = 1.0  # after that a picture is shown without its prediction


@dataclass(slots=True)
class Minute:
    """The predictions of one minute. `number`: minutes since 1970 of the node's clock."""

    number: int
    labels: Counter[str] = field(default_factory=Counter)
    totals_s: list[float] = field(default_factory=list)
    median_s: float = 0.0

    def add(self, prediction: Prediction) -> None:
        self.labels.update([answer.label for answer in answers_of(prediction)] or [""])
        self.totals_s.append(prediction.seconds.total)

    def close(self) -> None:
        """Keep only the median of the times."""
        if self.totals_s:
            self.median_s, self.totals_s = median(self.totals_s), []


@dataclass(frozen=True, slots=True)
class PastMinute:
    """A minute that is over.

    `label`: the most frequent one, of `share` of the predictions. `median_s`: from capture to publication.
    """

    number: int
    predictions: int
    label: str
    share: float
    median_s: float


class History:
    """The minutes of each camera. Predictions of one camera come in the order of their publication."""

    def __init__(self) -> None:
        self._minutes: dict[str, list[Minute]] = {}

    def add(self, prediction: Prediction) -> None:
        """Count a prediction; older minutes than an hour before it are dropped."""
        number = int(prediction.published_at // MINUTE_S)
        minutes = self._minutes.setdefault(prediction.camera, [])
        if not minutes or minutes[-1].number != number:
            if minutes:
                minutes[-1].close()
            minutes.append(Minute(number))
            # a clock that was set back would bring minutes that come a second time
            minutes[:] = [each for each in minutes if number - MINUTES <= each.number <= number]
        minutes[-1].add(prediction)

    def past(self, camera: str, at: float) -> list[PastMinute]:
        """Return the minutes of the last hour that are over at `at`, seconds since 1970, oldest first."""
        now = int(at // MINUTE_S)
        minutes = self._minutes.get(camera, [])
        return [_past(each) for each in minutes if now - MINUTES <= each.number < now]


def _past(minute: Minute) -> PastMinute:
    minute.close()
    (label, count), total = minute.labels.most_common(1)[0], minute.labels.total()
    return PastMinute(minute.number, total, label, count / total, minute.median_s)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture, and the prediction of its frame, or None. `number`: grows with each picture."""

    number: int
    picture: SnapshotPicture
    prediction: Prediction | None


class Shots:
    """The snapshots of one camera, by capture time: frame numbers may restart."""

    def __init__(self, seen: SeenPictures | None = None) -> None:
        """`seen`: gets all of them, each with its prediction."""
        self._seen = seen
        self.shown: Shot | None = None
        self._predictions: OrderedDict[float, Prediction] = OrderedDict()
        self._waiting: tuple[SnapshotPicture, float] | None = None
        self._kept: deque[Shot] = deque(maxlen=KEPT)
        self._number = 0

    def add_picture(self, picture: SnapshotPicture, now_s: float) -> None:
        """Add a snapshot; it is shown once its prediction has arrived."""
        if self._waiting:
            self._show(self._waiting[0], None)
        self._waiting = picture, now_s
        if prediction := self._predictions.get(picture.header.captured_at):
            self._show(picture, prediction)

    def add_prediction(self, prediction: Prediction) -> None:
        """Show the snapshot of this prediction, or an older one without a prediction."""
        self._predictions[prediction.captured_at] = prediction
        if len(self._predictions) > REMEMBERED:
            self._predictions.popitem(last=False)
        waiting = self._waiting and self._waiting[0]
        if waiting and prediction.captured_at >= waiting.header.captured_at:
            is_its_own = prediction.captured_at == waiting.header.captured_at
            self._show(waiting, prediction if is_its_own else None)

    @property
    def newest(self) -> SnapshotPicture | None:
        """Return the newest picture, also while its prediction is awaited."""
        if self._waiting:
            return self._waiting[0]
        return self.shown.picture if self.shown else None

    def current(self, now_s: float) -> Shot | None:
        """Return the picture to show now."""
        if self._waiting and now_s - self._waiting[1] > ALONE_S:
            self._show(self._waiting[0], None)
        return self.shown

    def jpeg(self, number: str) -> bytes | None:
        """Return the JPEG of a picture that is shown, or was shown recently."""
        return next((shot.picture.jpeg for shot in self._kept if str(shot.number) == number), None)

    def _show(self, picture: SnapshotPicture, prediction: Prediction | None) -> None:
        self._waiting = None
        self._number += 1
        self.shown = Shot(self._number, picture, prediction)
        self._kept.append(self.shown)
        if self._seen:
            self._seen.add(picture, prediction)


class Watcher:
    """Collects what one node publishes at an address. Thread-safe."""

    def __init__(self, address: str, node: str | None = None, seen: SeenPictures | None = None) -> None:
        """`node`: only this one; default: the first one received. `seen`: gets the pictures."""
        self.address = address
        self.refusal = ""  # why the hub rejects us
        self.news = 0  # grows with each event and status
        self.run = uuid4().hex  # so that no browser takes a picture of an earlier view for one of this
        self._node = node
        self._boot: str | None = None
        self._board = Board(node)
        self._newest: dict[str, bytes] = {}
        self._shots: defaultdict[str, Shots] = defaultdict(lambda: Shots(seen))
        self._history = History()
        self._lacks_events = False
        self._lock = threading.Lock()

    def node_state(self, now_s: float) -> NodeState:
        """Return the state of the node; `now_s`: of `time.monotonic`. See `Board`."""
        with self._lock:
            return self._board.node_state(now_s)

    def newest(self) -> Mapping[str, bytes]:
        """Return the newest prediction of each camera, as it was published."""
        with self._lock:
            return dict(self._newest)

    def current_shots(self, now_s: float) -> Mapping[str, Shot]:
        """Return the picture to show now of each camera."""
        with self._lock:
            shown = {camera: shots.current(now_s) for camera, shots in self._shots.items()}
        return {camera: shot for camera, shot in shown.items() if shot}

    def newest_picture(self, camera: str) -> SnapshotPicture | None:
        """Return the newest picture of a camera; None before the first."""
        with self._lock:
            return self._shots[camera].newest if camera in self._shots else None

    def jpeg(self, camera: str, number: str) -> bytes | None:
        """Return the JPEG of a picture; None for an old one."""
        with self._lock:
            return self._shots[camera].jpeg(number) if camera in self._shots else None

    def add(self, heard: StreamMessage, now_s: float) -> None:
        """Apply a message that arrived just now."""
        with self._lock:
            if not self._is_of_the_node(heard.prediction.node if isinstance(heard, Arrival) else heard.node):
                return
            if isinstance(heard, Status):
                self._lacks_events |= self._board.is_stale(now_s) or heard.boot != self._boot
                self._boot = heard.boot
            self._board.add(heard, now_s)
            if isinstance(heard, Arrival):
                self._newest[heard.prediction.camera] = heard.json
                self._shots[heard.prediction.camera].add_prediction(heard.prediction)
            else:
                self.news += 1
            if isinstance(heard, Status) and heard.camera_states:
                self._forget_all_but(heard.camera_states.keys())

    @property
    def lacks_events(self) -> bool:
        """Return whether events were missed, before the first status or while none came."""
        return self._lacks_events

    def add_past(self, prediction: Prediction) -> None:
        """Add a prediction of the last hour, in order."""
        with self._lock:
            if self._is_of_the_node(prediction.node):
                self._history.add(prediction)

    def add_earlier(self, events: Iterable[Event]) -> None:
        """Add events that were missed."""
        with self._lock:
            self._board.add_earlier(events)
            self._lacks_events = False
            self.news += 1

    def past(self, camera: str, at: float) -> list[PastMinute]:
        """Return the last hour of a camera, up to `at` of the node's clock."""
        with self._lock:
            return self._history.past(camera, at)

    def add_picture(self, picture: SnapshotPicture, now_s: float) -> None:
        """Add a snapshot that arrived just now."""
        with self._lock:
            if self._is_of_the_node(picture.header.node):
                self._shots[picture.header.camera].add_picture(picture, now_s)

    def _forget_all_but(self, cameras: Set[str]) -> None:
        for known in (self._newest, self._shots):
            for gone in known.keys() - cameras:
                del known[gone]

    def _is_of_the_node(self, node: str) -> bool:
        self._node = self._node or node
        return node == self._node
