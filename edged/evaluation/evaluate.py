"""Classify labelled pictures as the daemon does: the same preparation, the same kernels, the same scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from edged.camera.preprocess import preprocess
from edged.errors import ImageError
from edged.evaluation.figures import PictureAnswer, answer_of
from edged.evaluation.pictures import LabelledPicture
from edged.model.package import Model
from edged.model.reference import softmax
from edged.runtime.base import ModelRuntime, Pending
from edged.runtime.model_part import Images
from edged.runtime.scores import Floats, ends_in_softmax
from edged.worker.job_io import not_finite


@dataclass(frozen=True, eq=False)
class PictureJob:
    """Pictures that a device computes. `problems`: why a picture is not part of the job; else empty."""

    pictures: Sequence[LabelledPicture]
    problems: Sequence[str]
    pending: Pending | None


def evaluate(
    model: Model, runtime: ModelRuntime, pictures: Sequence[LabelledPicture], batch: int
) -> Iterator[list[PictureAnswer]]:
    """Yield the answers of each job of `batch` pictures, in order.

    While the device computes a job, the pictures of the next one are read and prepared. Raises DeviceError.
    """
    is_softmax = ends_in_softmax(model.graph)
    waiting: PictureJob | None = None
    for start in range(0, len(pictures), batch):
        job = _submit(model, runtime, pictures[start : start + batch])
        if waiting:
            yield _answers(waiting, is_softmax=is_softmax)
        waiting = job
    if waiting:
        yield _answers(waiting, is_softmax=is_softmax)


def _submit(model: Model, runtime: ModelRuntime, pictures: Sequence[LabelledPicture]) -> PictureJob:
    frames, problems = [], []
    for picture in pictures:
        try:
            frames.append(_frame(picture, model))
            problems.append("")
        except ImageError as error:
            problems.append(str(error))
    return PictureJob(pictures, problems, runtime.submit(np.stack(frames)) if frames else None)


def _frame(picture: LabelledPicture, model: Model) -> Images:
    wanted = model.input
    return preprocess(picture.pixels(), wanted.width, wanted.height, resize=wanted.resize)


def _answers(job: PictureJob, *, is_softmax: bool) -> list[PictureAnswer]:
    outputs = iter(job.pending.wait().outputs if job.pending else ())
    return [
        PictureAnswer(problem=problem, is_read=False)
        if problem
        else _answer(np.asarray(next(outputs), np.float32), picture, is_softmax=is_softmax)
        for picture, problem in zip(job.pictures, job.problems, strict=True)
    ]


def _answer(outputs: Floats, picture: LabelledPicture, *, is_softmax: bool) -> PictureAnswer:
    if problem := not_finite(outputs):
        return PictureAnswer(problem=problem)
    return answer_of(outputs if is_softmax else softmax(outputs), picture.classes)
