"""Measure variations of a network on the same pictures, prepared once: accuracy, and how far the scores moved."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edged import config
from edged.arithmetic import ceil_div
from edged.errors import DataError
from edged.evaluation.figures import answer_of, figures_of
from edged.evaluation.pictures import labelled_pictures
from edged.model.graph import Graph
from edged.model.model_part import whole_model
from edged.model.package import Model
from edged.model.scores import score_rule
from edged.pictures.decode import read_picture
from edged.pictures.folders import SUFFIXES, pictures_in
from edged.pictures.prepare import prepare
from edged.runtime.base import ModelRuntime
from edged.runtime.proven import open_proven, open_variation
from edged.system.disk_cache import CacheEntries, code_sha256
from edged.system.paths import cache_directory

PROBED = 256  # pictures on which scores are compared: scores show more than right or wrong
LEAST = 1e-12  # of a probability, for its logarithm

Frames = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class JudgedPictures:
    """frames: uint8 RGB [n, height, width, 3], prepared; `classes`: those that are right for each.

    Without `classes` the original network's first class is right. `fingerprint`: changes with all of these.
    """

    frames: Frames
    classes: Sequence[tuple[int, ...]] | None
    fingerprint: str


@dataclass(frozen=True)
class Measured:
    """Share of right answers, and mean Kullback-Leibler divergence of the original's scores, in nats."""

    accuracy: float
    divergence: float


class Judge:
    """Judges networks with other weights than `model`. `original`: the scores of that, [n, labels].

    Results are kept on disk, so that a killed compression finds those that it had. Raises DeviceError, ModelError.
    """

    def __init__(self, model: Model, worker: config.WorkerConfig, pictures: JudgedPictures) -> None:
        self._model, self._worker, self.input = model, worker, model.input
        self._rule = score_rule(model)
        self.frames = pictures.frames
        runtime = open_proven(whole_model(model), worker).runtime
        self.device_name = runtime.device_name
        try:
            self.original = self._scores(runtime, self.frames)
        finally:
            runtime.close()
        self._classes = pictures.classes or [(int(best),) for best in self.original.argmax(axis=1)]
        self._kept = CacheEntries(cache_directory() / "compressions", "json", limit=2**24)
        parts = ("pictures", "runtime", "engine", "evaluation", "model", "compress")
        code = [code_sha256(f"edged.{part}") for part in parts]
        self._key = [
            model.sha256,
            model.input.described,
            self._rule.described,
            self.device_name,
            worker.batch,
            pictures.fingerprint,
            code,
        ]
        self.reused = 0  # measurements of an earlier run
        self.accuracy = self._measured(self.original).accuracy

    def measure(self, weights_sha256: str, graph: Callable[[], Graph], *, probe: bool = False) -> Measured:
        """Measure a network that differs in its weights alone; `probe`: on up to `PROBED` pictures."""
        key = sha256(json.dumps([*self._key, weights_sha256, probe]).encode()).hexdigest()
        if (known := self._kept.load(key)) is not None:
            self.reused += 1
            return Measured(**json.loads(bytes(known)))
        step = ceil_div(len(self.frames), PROBED) if probe else 1
        variation = replace(self._model, graph=graph())
        runtime = open_variation(whole_model(variation), self._worker)
        try:
            found = self._measured(self._scores(runtime, self.frames[::step]), step)
        finally:
            runtime.close()
        self._kept.save(key, [json.dumps(asdict(found)).encode()])
        return found

    def accuracy_of(self, weights_sha256: str, graph: Callable[[], Graph]) -> float:
        """Return the share of right answers of a network that differs in its weights alone."""
        return self.measure(weights_sha256, graph).accuracy

    def _measured(self, shares: Floats, step: int = 1) -> Measured:
        classes, original = self._classes[::step], self.original[::step]
        answers = [answer_of(one, right) for one, right in zip(shares, classes, strict=True)]
        return Measured(figures_of(answers, classes).top1, self._divergence(original, shares))

    def _divergence(self, original: Floats, shares: Floats) -> float:
        if self._rule.is_independent:  # each label is a choice of its own: it is there, or not
            original, shares = (np.concatenate([each, 1 - each], axis=1) for each in (original, shares))
        ratio = np.log(np.maximum(original, LEAST)) - np.log(np.maximum(shares, LEAST))
        return float(np.mean(np.sum(original * ratio, axis=1, dtype=np.float64)))

    def _scores(self, runtime: ModelRuntime, frames: Frames) -> Floats:
        batch = self._worker.batch
        parts = [
            runtime.submit(frames[start : start + batch]).wait().outputs for start in range(0, len(frames), batch)
        ]
        outputs = np.concatenate([np.array(part, np.float32) for part in parts])
        return self._rule.by_label(self._rule.scores(outputs))


def labelled(path: Path, model: Model, most: int) -> JudgedPictures:
    """Read labelled pictures as `edged eval` does, `most` of them, evenly spaced. Raises DataError, ImageError."""
    found = labelled_pictures(path, model.labels).evenly_spaced(most)
    frames = [prepare(picture.pixels(), model.input) for picture in found.pictures]
    return JudgedPictures(np.stack(frames), [picture.classes for picture in found.pictures], found.fingerprint)


def unlabelled(folder: Path, model: Model, most: int) -> JudgedPictures:
    """Read the pictures of a folder, `most` of them, evenly spaced; the original network's answers are right.

    Raises DataError for a folder without pictures, ImageError for a picture that cannot be read.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder; expected one with pictures")
    files = pictures_in(folder)
    if not files:
        raise DataError(f"{folder}: holds no pictures; expected {', '.join(sorted(SUFFIXES))}")
    chosen = [files[index * len(files) // most] for index in range(most)] if len(files) > most else files
    return prepared(np.stack([prepare(read_picture(file), model.input) for file in chosen]))


def prepared(frames: Frames) -> JudgedPictures:
    """Return prepared frames, uint8 RGB [n, height, width, 3], of which the original's answers are right."""
    digest = sha256(json.dumps(frames.shape).encode() + frames.tobytes())
    return JudgedPictures(frames, None, digest.hexdigest())
