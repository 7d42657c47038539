"""Find the boxes of pictures as the daemon does, on a device or by onnxruntime, for their mean precision."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee

from edged.detection.detector import Detector
from edged.errors import ImageError
from edged.evaluation.annotations import BoxPicture, Size
from edged.evaluation.onnxruntime_scores import OnnxruntimeNetwork
from edged.messages.detection import FoundBox
from edged.model.package import Model
from edged.pictures.prepare import prepare
from edged.runtime.base import ModelRuntime
from edged.runtime.detected import boxes_of_outputs
from edged.runtime.jobs import Computed, Prepared, compute

LEAST_SCORE = 0.01  # of boxes that mAP counts: those below have no part in it to speak of


@dataclass(frozen=True)
class BoxAnswer:
    """The boxes of a picture of `size`: width and height. Otherwise as `PictureBoxes`."""

    size: Size
    boxes: tuple[FoundBox, ...] = ()
    problem: str = ""
    is_read: bool = True

    def from_scores(self, least: Sequence[float]) -> tuple[FoundBox, ...]:
        """Return the boxes with at least these scores, by class."""
        return tuple(box for box in self.boxes if box.score >= least[box.index])


@dataclass(frozen=True, eq=False)
class ReadPicture:
    """A picture as the network takes it, or why there is none. `size`: width and height of the picture."""

    prepared: Prepared
    size: Size = (0, 0)


def with_low_scores(detector: Detector, least: float = LEAST_SCORE) -> Detector:
    """Return a detector that reports boxes of all scores from `least` on, for the mean average precision."""
    return replace(
        detector, limits=replace(detector.limits, thresholds=(least,) * len(detector.limits.thresholds))
    )


class DeviceDetection:
    """The boxes that one device of this host finds."""

    def __init__(self, model: Model, runtime: ModelRuntime, batch: int) -> None:
        self._model, self._runtime, self._batch = model, runtime, batch

    @property
    def device(self) -> str:
        return self._runtime.device_name

    @property
    def key(self) -> list[object]:
        """Return what the answers depend on, beside the model, the plan and the pictures."""
        return [self.device, getattr(self._runtime, "proof_key", "")]

    def answers(self, pictures: Sequence[BoxPicture]) -> Iterator[list[BoxAnswer]]:
        """Yield the answers of each job, in order. Raises DeviceError."""
        read, prepared = tee(read_box_picture(picture, self._model) for picture in pictures)
        for job in compute(self._runtime, (each.prepared for each in prepared), self._batch):
            yield [box_answer(outputs, self._model, next(read).size) for outputs in job]


class OnnxruntimeDetection:
    """The boxes in the outputs of onnxruntime, by the same decoding."""

    def __init__(self, model: Model, network: OnnxruntimeNetwork) -> None:
        self._model, self._network = model, network

    @property
    def device(self) -> str:
        return f"onnxruntime {self._network.version}"

    @property
    def key(self) -> list[object]:
        """Return what the answers depend on, beside the model and the pictures."""
        return [self.device]

    def answers(self, pictures: Sequence[BoxPicture]) -> Iterator[list[BoxAnswer]]:
        """Yield the answer to each picture. Raises ModelError."""
        for picture in pictures:
            one = read_box_picture(picture, self._model)
            outputs = (
                one.prepared if isinstance(one.prepared, str) else self._network.outputs(one.prepared[None])[0]
            )
            yield [box_answer(outputs, self._model, one.size)]


def read_box_picture(picture: BoxPicture, model: Model) -> ReadPicture:
    """Read and prepare a picture; one that has another size than its annotations say cannot be judged."""
    try:
        pixels = picture.pixels()
    except ImageError as error:
        return ReadPicture(str(error))
    size = pixels.shape[1], pixels.shape[0]
    if picture.size and size != picture.size:
        found, expected = ("×".join(map(str, each)) for each in (size, picture.size))
        hint = "; --no-exif reads pictures as they are stored" if size == picture.size[::-1] else ""
        return ReadPicture(f"{picture.path}: has {found} pixels, but {expected} in the annotations{hint}")
    return ReadPicture(prepare(pixels, model.input), size)


def box_answer(outputs: Computed, model: Model, size: Size) -> BoxAnswer:
    """Return the answer that a detector's outputs hold for a picture of this size."""
    found = boxes_of_outputs(outputs, model, size)
    return BoxAnswer(size, found.boxes, found.problem, found.is_read)
