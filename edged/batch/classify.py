"""Classify one chunk after the other on one device, or find objects there, and write the answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import tee
from pathlib import Path

from edged import config
from edged.batch.answers_file import AnswerCount, ArchiveAnswer, write_answers
from edged.batch.chunks import ArchiveChunk
from edged.batch.reading import ChunkReader, PreparedPicture
from edged.messages import boxes_of, labels_of
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.model.scores import score_rule
from edged.runtime.detected import boxes_of_outputs
from edged.runtime.jobs import Computed, compute
from edged.runtime.proven import open_proven
from edged.runtime.scored import scores_of


@dataclass(frozen=True)
class ClassifyOptions:
    """How chunks are classified. `top`: labels of an answer; `readers`: threads that read pictures.

    `upright`: whether pictures are turned by their EXIF.
    """

    worker: config.WorkerConfig
    top: int
    readers: int
    upright: bool = True


class ChunkClassifier:
    """A network that is ready on a device, and what reads the pictures for it."""

    def __init__(self, model: Model, root: Path, options: ClassifyOptions) -> None:
        """`root`: the folder of the archive. Raises DeviceError."""
        self._model, self._options = model, options
        self._rule = None if model.detector else score_rule(model)
        self._runtime = open_proven(whole_model(model), options.worker).runtime
        self._reader = ChunkReader(root, model.input, options.readers, upright=options.upright)

    @property
    def device(self) -> str:
        return self._runtime.device_name

    def write(self, chunk: ArchiveChunk, path: Path) -> AnswerCount:
        """Classify a chunk and write its file. Raises DeviceError, ConfigError."""
        worker, model = self._options.worker, self._model
        about = {"model": model.name, "sha256": model.sha256, "device": self.device, "precision": worker.precision}
        return write_answers(path, self.answers(chunk), about, of_boxes=model.detector is not None)

    def answers(self, chunk: ArchiveChunk) -> Iterator[ArchiveAnswer]:
        """Yield the answers to a chunk's pictures, in order. Raises DeviceError."""
        read, pictures = tee(self._reader.pictures_of(chunk))
        ahead = min(1, self._options.readers)  # without readers this run takes one processor, reading included
        prepared = (each.prepared for each in read)
        jobs = compute(self._runtime, prepared, self._options.worker.batch, ahead)
        computed = (each for job in jobs for each in job)
        return (self._answer(picture, outputs) for outputs, picture in zip(computed, pictures, strict=True))

    def close(self) -> None:
        """Free the device, and end the threads."""
        self._reader.close()
        self._runtime.close()

    def _answer(self, picture: PreparedPicture, outputs: Computed) -> ArchiveAnswer:
        name = picture.name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        picture_key = (name, picture.captured_at, picture.frame, picture.at_s)
        if self._rule is None:
            detected = boxes_of_outputs(outputs, self._model, picture.size)
            boxes = boxes_of(detected.boxes, self._model.labels)
            return ArchiveAnswer(*picture_key, problem=detected.problem or None, boxes=boxes)
        found = scores_of(outputs, self._rule)
        if found.scores is None:
            return ArchiveAnswer(*picture_key, problem=found.problem)
        top = self._rule.best(found.scores, self._options.top)
        return ArchiveAnswer(*picture_key, labels_of(top, self._model.labels))
