"""Pictures and the labels that belong to them, which come on two connections and in any order."""

from collections import OrderedDict, deque
from dataclasses import dataclass

from edged.client.received import Picture
from edged.messages import Prediction

REMEMBERED = 64  # predictions whose picture may be on its way
KEPT = 8  # pictures that a browser may be about to fetch
ALONE_S = 1.0  # a picture whose prediction has not come by then is shown without


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture, and what was predicted from its frame; None where nothing was. `number`: grows with each."""

    number: int
    picture: Picture
    prediction: Prediction | None


class Shots:
    """Of one camera. A frame is known by the moment at which it was captured: its number begins anew at times."""

    def __init__(self) -> None:
        self.shown: Shot | None = None
        self._predictions: OrderedDict[float, Prediction] = OrderedDict()
        self._waiting: tuple[Picture, float] | None = None
        self._kept: deque[Shot] = deque(maxlen=KEPT)
        self._number = 0

    def take_picture(self, picture: Picture, now_s: float) -> None:
        """It has come just now; it is shown once its prediction is here."""
        if self._waiting:
            self._show(self._waiting[0], None)
        self._waiting = picture, now_s
        if prediction := self._predictions.get(picture.header.captured_at):
            self._show(picture, prediction)

    def take_prediction(self, prediction: Prediction) -> None:
        """The picture that has waited for it is shown; so is one that will have none, as a later frame has."""
        self._predictions[prediction.captured_at] = prediction
        if len(self._predictions) > REMEMBERED:
            self._predictions.popitem(last=False)
        waiting = self._waiting and self._waiting[0]
        if waiting and prediction.captured_at >= waiting.header.captured_at:
            is_its_own = prediction.captured_at == waiting.header.captured_at
            self._show(waiting, prediction if is_its_own else None)

    def look(self, now_s: float) -> Shot | None:
        """What is to be shown now."""
        if self._waiting and now_s - self._waiting[1] > ALONE_S:
            self._show(self._waiting[0], None)
        return self.shown

    def jpeg(self, number: int) -> bytes | None:
        """Of one that is shown, or was a moment ago."""
        return next((shot.picture.jpeg for shot in self._kept if shot.number == number), None)

    def _show(self, picture: Picture, prediction: Prediction | None) -> None:
        self._waiting = None
        self._number += 1
        self.shown = Shot(self._number, picture, prediction)
        self._kept.append(self.shown)
