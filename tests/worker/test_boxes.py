"""A detector's answer to a job: the boxes of each frame, in the picture of its camera."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from edged import config
from edged.config import WorkerConfig
from edged.energy.meter import JobEnergy
from edged.errors import DeviceError
from edged.messages import Job, Scores
from edged.messages.detection import FoundBox
from edged.model.model_part import Features, Images, whole_model
from edged.model.package import load_model
from edged.runtime.numpy_runtime import NumpyResult, NumpyRuntime
from edged.worker.job_io import answer_to, classes_of, frames_of
from edged.worker.warm_up import SelfCheck, served_of, warm_up
from tests.model.detectors import SIDE, detector_file

WHOLE = (0.0, 0.0, float(SIDE), float(SIDE))
UPPER_HALF = (0.0, 0.0, float(SIDE), SIDE / 2)


class Answering(NumpyRuntime):
    """A device that gives these outputs for every picture."""

    def __init__(self, outputs: np.ndarray) -> None:
        self._outputs = outputs

    def submit(self, frames: Images | Features, *, features: bool = False, by_layer: bool = False) -> Any:
        """Submit nothing."""
        return SimpleNamespace(wait=lambda: NumpyResult(self._outputs, 0.0))


def answered(folder: Path, job: Job, frames: np.ndarray) -> Scores:
    """What a worker with a detector answers."""
    part = whole_model(
        load_model(config.ModelConfig(path=detector_file(folder / "net.onnx", "yolox"), threshold=0.3))
    )
    served = served_of(part, WorkerConfig(device="numpy", batch=4))
    images = frames_of(job, [frame.tobytes() for frame in frames], served)
    answer, payloads = answer_to(job, NumpyRuntime(part).submit(images).wait(), JobEnergy(None, {}), served)
    assert isinstance(answer, Scores)
    assert not payloads
    return answer


def noise(frames: int) -> np.ndarray:
    one = np.random.default_rng(3).integers(0, 256, (1, SIDE, SIDE, 3), np.uint8)
    return np.repeat(one, frames, axis=0)


def test_boxes_lie_in_the_picture_of_each_frame(tmp_path: Path) -> None:
    job = Job(job=1, frames=2, top=5, timeout_s=60, places=(WHOLE, UPPER_HALF))

    answer = answered(tmp_path, job, noise(2))

    whole, half = answer.boxes
    assert whole
    assert [box.index for box in whole] == [box.index for box in half]
    for box, stretched in zip(whole, half, strict=True):
        left, top, right, bottom = box.box
        assert stretched.box == pytest.approx((left, min(2 * top, 1), right, min(2 * bottom, 1)), abs=1e-6)


def test_without_places_each_picture_fills_its_frame(tmp_path: Path) -> None:
    frames = noise(2)

    placed = answered(tmp_path, Job(job=1, frames=2, top=5, timeout_s=60, places=(WHOLE, None)), frames)
    unplaced = answered(tmp_path, Job(job=1, frames=2, top=5, timeout_s=60), frames)

    assert placed.boxes == unplaced.boxes


def test_each_class_is_an_answer_with_its_best_score(tmp_path: Path) -> None:
    answer = answered(tmp_path, Job(job=1, frames=1, top=1, timeout_s=60), noise(1))

    (boxes,), (classes,) = answer.boxes, answer.frames
    assert {score.index for score in classes} == {box.index for box in boxes}
    assert [score.score for score in classes] == sorted((score.score for score in classes), reverse=True)
    assert 0 < answer.decode_s < answer.forward_s


def test_two_boxes_of_a_class_are_one_answer() -> None:
    boxes = [
        FoundBox(index=index, score=score, box=(0, 0, 1, 1)) for index, score in ((2, 0.9), (0, 0.8), (2, 0.7))
    ]

    assert [(each.index, each.score) for each in classes_of(boxes)] == [(2, 0.9), (0, 0.8)]


def test_a_device_that_fails_in_scores_alone_is_found_beside_boxes_in_pixels(tmp_path: Path) -> None:
    path = detector_file(tmp_path / "net.onnx", "ssd")
    part = whole_model(load_model(config.ModelConfig(path=path)))
    runtime, worker = NumpyRuntime(part), WorkerConfig(device="numpy")
    _, known = warm_up(runtime, part, worker)
    scores, boxes = known.begins
    outputs = known.outputs.copy()
    outputs[:, scores:boxes] += 0.01
    outputs[:, boxes:] *= 640
    right = known.outputs.copy()
    right[:, boxes:] *= 640

    one_wrong = SelfCheck(known.frames, outputs, 0, known.begins)

    with pytest.raises(DeviceError, match="no longer gives the answer that it gave at its start"):
        one_wrong.check(Answering(right), 0)
    SelfCheck(known.frames, right, 0, known.begins).check(Answering(right), 0)


def test_places_of_another_number_of_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 frames with the places of 1 pictures"):
        answered(tmp_path, Job(job=1, frames=2, top=5, timeout_s=60, places=(None,)), noise(2))
