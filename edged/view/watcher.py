"""What is known now of a node and of its pictures, once for all browsers."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Set
from uuid import uuid4

from edged.client.board import Board
from edged.client.known import Known
from edged.client.received import Arrival, Heard, Picture
from edged.messages import Status
from edged.view.shots import Shot, Shots


class Watcher:
    """Folds what one node publishes at an address. Any thread may tell it, and ask."""

    def __init__(self, address: str, node: str | None = None) -> None:
        """`node`: this one; default: the first that is heard."""
        self.address = address
        self.refusal = ""  # why the hub does not let us in
        self.news = 0  # grows with each event and status
        self.run = uuid4().hex  # so that no browser takes a picture of an earlier view for one of this
        self._node = node
        self._board = Board(node)
        self._newest: dict[str, bytes] = {}
        self._shots: defaultdict[str, Shots] = defaultdict(Shots)
        self._lock = threading.Lock()

    def known(self, now_s: float) -> Known:
        """See `Board`; `now_s`: of `time.monotonic`."""
        with self._lock:
            return self._board.known(now_s)

    def newest(self) -> Mapping[str, bytes]:
        """The newest prediction of each camera, as it was published."""
        with self._lock:
            return dict(self._newest)

    def shots(self, now_s: float) -> Mapping[str, Shot]:
        """The picture of each camera that is to be shown now."""
        with self._lock:
            shown = {camera: shots.look(now_s) for camera, shots in self._shots.items()}
        return {camera: shot for camera, shot in shown.items() if shot}

    def jpeg(self, camera: str, number: int) -> bytes | None:
        """Of a shot; None for one of long ago."""
        with self._lock:
            return self._shots[camera].jpeg(number) if camera in self._shots else None

    def take(self, heard: Heard, now_s: float) -> None:
        """It has come just now."""
        with self._lock:
            if not self._is_of_the_node(heard.prediction.node if isinstance(heard, Arrival) else heard.node):
                return
            self._board.take(heard, now_s)
            if isinstance(heard, Arrival):
                self._newest[heard.prediction.camera] = heard.json
                self._shots[heard.prediction.camera].take_prediction(heard.prediction)
            else:
                self.news += 1
            if isinstance(heard, Status) and heard.camera_states:
                self._forget_all_but(heard.camera_states.keys())

    def take_picture(self, picture: Picture, now_s: float) -> None:
        """It has come just now."""
        with self._lock:
            if self._is_of_the_node(picture.header.node):
                self._shots[picture.header.camera].take_picture(picture, now_s)

    def _forget_all_but(self, cameras: Set[str]) -> None:
        for known in (self._newest, self._shots):
            for gone in known.keys() - cameras:
                del known[gone]

    def _is_of_the_node(self, node: str) -> bool:
        self._node = self._node or node
        return node == self._node
