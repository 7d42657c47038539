"""Convert a job's payloads to the network's input, and its outputs to the message that answers the job.

Taught heads answer from the features, on the host. A head is so small compared with the layers before it (tens of
thousands of multiplications against many millions) that NumPy finishes before a device would have begun: no second
plan, and nothing to compile at a change.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from edged import messages
from edged.detection.detector import Detector
from edged.energy.meter import JobEnergy
from edged.errors import ModelError
from edged.messages import FoundBox, HeadLoaded, Job, LoadHead, Score, Scores
from edged.model.graph import Shape
from edged.model.head import Head
from edged.model.model_part import Features, Images
from edged.model.scores import ScoreRule, top_classes
from edged.pictures.placement import Placement
from edged.runtime.base import Outputs, Result

MOST = 64  # heads, many more than are offered while no job names them
UNTEACHABLE = "its model does not end in a fully connected layer: it cannot be taught"

FEATURE = np.dtype("<f4")


@dataclass(frozen=True, eq=False)
class HeadAnswers:
    """Shares [n, classes] by the job's head and by the one in shadow, and the seconds of both."""

    shares: Outputs | None = None
    shadow: Outputs | None = None
    seconds: float = 0.0


NOTHING = HeadAnswers()


class LoadedHeads:
    """The most recently loaded heads of a worker."""

    def __init__(self, base: str, features: int) -> None:
        """`base`: SHA-256 of the model that runs; `features`: values per frame, 0: none."""
        self._base = base
        self._features = features
        self._heads: OrderedDict[str, Head] = OrderedDict()

    def load(self, message: LoadHead, payloads: Sequence[bytes | memoryview]) -> HeadLoaded:
        """Load a head, and return the answer for the hub."""
        refused = self._incompatibility(message)
        if not refused:
            try:
                head = Head.from_bytes(b"".join(payloads), message.features, message.hidden, message.classes)
            except ModelError as error:
                refused = str(error)
            else:
                self._keep(message.version, head)
        return HeadLoaded(version=message.version, refused=refused)

    def wants_features(self, job: Job) -> bool:
        """Return whether the job needs features. Raises ValueError for a job that cannot be done here."""
        unknown = [name for name in (job.head, job.shadow) if name and name not in self._heads]
        if unknown:
            raise ValueError(f"no head {unknown[0][:12]} is loaded here")
        wanted = job.features or bool(job.head or job.shadow)
        if wanted and not self._features:
            raise ValueError(UNTEACHABLE)
        return wanted

    def answer(self, job: Job, result: Result) -> HeadAnswers:
        """Return the answers of the job's heads for these features."""
        if result.features is None or not (job.head or job.shadow):
            return NOTHING
        start = time.perf_counter()
        shares = self._use(job.head).shares(result.features) if job.head else None
        shadow = self._use(job.shadow).shares(result.features) if job.shadow else None
        return HeadAnswers(shares, shadow, time.perf_counter() - start)

    def _use(self, version: str) -> Head:
        self._heads.move_to_end(version)
        return self._heads[version]

    def _keep(self, version: str, head: Head) -> None:
        self._heads[version] = head
        self._heads.move_to_end(version)
        while len(self._heads) > MOST:
            self._heads.popitem(last=False)

    def _incompatibility(self, message: LoadHead) -> str:
        if message.base != self._base:
            return f"it was taught to the model {message.base[:12]}; {self._base[:12]} runs here"
        if not self._features:
            return UNTEACHABLE
        if message.features != self._features:
            return f"it is for {message.features} features; the model here gives {self._features}"
        return ""


@dataclass(frozen=True)
class Served:
    """The properties of the served part of the model that the loop needs.

    `frame`: the shape of a frame: (height, width, 3) of uint8, or features of float32 if the part
    `takes_features`. Its answers are features too where it `gives_features`; else scores, which follow from the
    network's outputs by `rule`, or boxes if that is a detector. `taught`: values of a frame from which heads can
    answer; 0: the model has no place for one.
    """

    frame: Shape
    batch: int
    rule: ScoreRule | Detector
    takes_features: bool = False
    gives_features: bool = False
    taught: int = 0


def frames_of(job: Job, payloads: Sequence[bytes | memoryview], served: Served) -> Images | Features:
    """Return the job's frames, [n, *served.frame]. Raises ValueError if they do not fit the model."""
    expected, what = (1, "one payload for all") if served.takes_features else (job.frames, "a payload each")
    if len(payloads) != expected or job.frames > served.batch:
        raise ValueError(
            f"{job.frames} frames with {len(payloads)} payloads; expected 1 to {served.batch}, {what}"
        )
    if job.places and len(job.places) != job.frames:
        raise ValueError(f"{job.frames} frames with the places of {len(job.places)} pictures")
    if served.takes_features:
        return _features(payloads[0], (job.frames, *served.frame))
    return _images(payloads, (job.frames, *served.frame))


def _features(payload: bytes | memoryview, shape: Shape) -> Features:
    wanted = prod(shape) * FEATURE.itemsize
    if len(payload) != wanted:
        raise ValueError(f"features of {len(payload)} bytes; expected {_product(shape)} × 4 = {wanted}")
    return np.frombuffer(payload, FEATURE).reshape(shape)


def _images(payloads: Sequence[bytes | memoryview], shape: Shape) -> Images:
    wanted = prod(shape[1:])
    if wrong := [len(payload) for payload in payloads if len(payload) != wanted]:
        raise ValueError(f"a frame of {wrong[0]} bytes; expected {_product(shape[1:])} = {wanted}")
    pixels = payloads[0] if len(payloads) == 1 else b"".join(payloads)
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def _product(shape: Shape) -> str:
    return " × ".join(map(str, shape))


def answer_to(
    job: Job, result: Result, spent: JobEnergy, served: Served, answered: HeadAnswers = NOTHING
) -> tuple[Scores | messages.Features, Sequence[memoryview]]:
    """Return the answer to a job, with its payloads. `answered`: the results of its heads."""
    if served.gives_features:
        features, payload = features_of(job, result, spent)
        return features, (payload,)
    scores = scores_of(job, result, spent, answered, served)
    if job.features and result.features is not None:
        return scores, (_wire(result.features),)
    return scores, ()


def features_of(job: Job, result: Result, spent: JobEnergy) -> tuple[messages.Features, memoryview]:
    """Return the answer of a part that ends at a cut, and its payload."""
    answer = messages.Features(
        job=job.job,
        upload_s=result.upload_s,
        forward_s=result.forward_s,
        download_s=result.download_s,
        joules=spent.joules,
        idle=spent.idle,
        rails=spent.rails,
    )
    return answer, _wire(result.outputs)


def _wire(features: Outputs) -> memoryview:
    return np.ascontiguousarray(features, FEATURE).data.cast("B")


def scores_of(job: Job, result: Result, spent: JobEnergy, answered: HeadAnswers, served: Served) -> Scores:
    """Return the answer to a job, by the network's rule or detector where no head answers.

    What heads, or boxes, take on the host is a part of the forward pass.
    """
    rule, start = served.rule, time.perf_counter()
    boxes, faint = boxes_in(job, result.outputs, rule) if isinstance(rule, Detector) else ((), ())
    decode_s = time.perf_counter() - start if boxes else 0.0
    if isinstance(rule, Detector):
        frames = tuple(map(classes_of, boxes))
    elif answered.shares is not None:
        frames = _top(answered.shares, job)
    else:
        frames = tuple(rule.best(frame, job.top) for frame in rule.scores(result.outputs))
    return Scores(
        job=job.job,
        frames=frames,
        boxes=boxes,
        faint=faint,
        decode_s=decode_s,
        shadow=() if answered.shadow is None else _top(answered.shadow, job),
        upload_s=result.upload_s,
        forward_s=result.forward_s + answered.seconds + decode_s,
        download_s=result.download_s,
        joules=spent.joules,
        idle=spent.idle,
        rails=spent.rails,
    )


FrameBoxes = tuple[tuple[FoundBox, ...], ...]


def boxes_in(job: Job, outputs: Outputs, detector: Detector) -> tuple[FrameBoxes, FrameBoxes]:
    """Return the boxes of each frame as shares of what its camera prepared; then faint ones, if wanted."""
    height, width = detector.size
    given = job.places or (None,) * len(outputs)
    places = [Placement(*(place or (0, 0, width, height))) for place in given]
    found = [detector.clear_and_faint(frame, place) for frame, place in zip(outputs, places, strict=True)]
    faint = tuple(each for _, each in found) if detector.limits.with_faint else ()
    return tuple(each for each, _ in found), faint


def classes_of(boxes: Iterable[FoundBox]) -> tuple[Score, ...]:
    """Return each class of a frame's boxes once, with its best score; the boxes are sorted, the best first."""
    best: dict[int, Score] = {}
    for box in boxes:
        best.setdefault(box.index, Score(index=box.index, score=box.score))
    return tuple(best.values())


def _top(shares: Outputs, job: Job) -> tuple[tuple[Score, ...], ...]:
    return tuple(top_classes(frame, job.top) for frame in shares)
