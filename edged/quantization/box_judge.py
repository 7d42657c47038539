"""Measure variations of a detector on the same pictures, prepared once: the mean average precision of boxes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.arithmetic import ceil_div
from edged.errors import DataError
from edged.evaluation.annotations import BoxPictures, Size, TrueBox
from edged.evaluation.detect import BoxAnswer, box_answer, read_box_picture, with_low_scores
from edged.evaluation.mean_precision import JudgedPicture, box_figures, true_boxes
from edged.evaluation.onnxruntime_scores import OnnxruntimeNetwork
from edged.model.graph import Graph
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.runtime.base import ModelRuntime
from edged.runtime.jobs import Computed, compute
from edged.runtime.proven import open_proven, open_variation

Frames = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class BoxFrames:
    """frames: uint8 RGB [n, height, width, 3], prepared of pictures of these `sizes`.

    truths: the boxes that are right in each; None: those that the original network finds.
    """

    frames: Frames
    sizes: Sequence[Size]
    truths: Sequence[Sequence[TrueBox]] | None = None

    def divided(self, most: int) -> "tuple[BoxFrames, BoxFrames]":
        """Return at most so many of the pictures, evenly spaced, up to half of them, and all others.

        A single picture is both.
        """
        count = len(self.frames)
        if count < 2:
            return self, self
        step = max(2, ceil_div(count, most))
        return self._of(range(0, count, step)), self._of([each for each in range(count) if each % step])

    def _of(self, indices: Sequence[int]) -> "BoxFrames":
        truths = [self.truths[each] for each in indices] if self.truths else None
        return BoxFrames(self.frames[list(indices)], [self.sizes[each] for each in indices], truths)


class BoxJudge:
    """Judges networks with other weights than `model`, a detector. `accuracy`: the mAP of `model` itself.

    device_name: of the device that computes them. Raises DeviceError, and DataError where no box is right.
    """

    def __init__(self, model: Model, worker: config.WorkerConfig, pictures: BoxFrames) -> None:
        assert model.detector, "a detector"  # noqa: S101
        self._model, self._worker = replace(model, detector=with_low_scores(model.detector)), worker
        self.frames, self._sizes = pictures.frames, pictures.sizes
        runtime = open_proven(whole_model(self._model), worker).runtime
        self.device_name = runtime.device_name
        original = self._answers(runtime)
        thresholds = model.detector.limits.thresholds
        self._truths = pictures.truths or [
            true_boxes(each.from_scores(thresholds), each.size) for each in original
        ]
        if not any(self._truths):
            raise DataError(f"{model.name} finds no box in these pictures, which could judge it: take other ones")
        self.accuracy = self._precision(original)

    def accuracy_of(self, weights_sha256: str, graph: Callable[[], Graph]) -> float:
        """Return the mAP of a network that differs in its weights alone."""
        return self._precision(
            self._answers(open_variation(whole_model(replace(self._model, graph=graph())), self._worker))
        )

    def accuracy_by_onnxruntime(self, file: Path) -> float:
        """Return the mAP of a file as onnxruntime computes it, which needs no kernels. Raises ModelError."""
        network = OnnxruntimeNetwork(file, self._model.input)
        outputs = (network.outputs(frame[np.newaxis])[0] for frame in self.frames)
        return self._precision(self._found(outputs))

    def _answers(self, runtime: ModelRuntime) -> list[BoxAnswer]:
        """Find the boxes of all pictures, and close the device."""
        try:
            jobs = compute(runtime, self.frames, self._worker.batch)
            return self._found(each for job in jobs for each in job)
        finally:
            runtime.close()

    def _found(self, outputs: Iterable[Computed]) -> list[BoxAnswer]:
        return [box_answer(each, self._model, size) for each, size in zip(outputs, self._sizes, strict=True)]

    def _precision(self, answers: Sequence[BoxAnswer]) -> float:
        pairs = zip(answers, self._truths, strict=True)
        return box_figures([JudgedPicture(each.size, right, each.boxes) for each, right in pairs]).mean


def box_frames(pictures: BoxPictures, model: Model) -> BoxFrames:
    """Read and prepare all pictures. Raises DataError for one that cannot be read, or has another size."""
    frames, sizes = [], []
    for picture in pictures.pictures:
        one = read_box_picture(picture, model)
        if isinstance(one.prepared, str):
            raise DataError(one.prepared)
        frames.append(one.prepared)
        sizes.append(one.size)
    truths = [picture.truths for picture in pictures.pictures] if pictures.annotations else None
    return BoxFrames(np.stack(frames), sizes, truths)
