"""One run of `edged train`: prepare the session, show its progress, and write the results."""

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edged import config
from edged.cli.training_data import open_source
from edged.engine.device import Device
from edged.errors import ConfigError, DataError, TrainingError
from edged.model import reference
from edged.model.cost import macs
from edged.model.graph import Graph
from edged.model.package import Input, Model, load_model
from edged.system.exclusive_lock import hold
from edged.system.files import FOR_ALL, replace_file
from edged.system.terminal import StatusLine, format_time, warn
from edged.train.build import build, start_from
from edged.train.checkpoint import Checkpoint, Checkpoints, facts_of
from edged.train.config import Training, load_training
from edged.train.export import to_onnx
from edged.train.report import EvaluatedImages, TrainingOutcome, write_report
from edged.train.results import Epoch, TrainingProgress
from edged.train.session import TrainingSession
from edged.train.source import LabelledImages
from edged.train.trainer import trainer_of
from edged.train.training_operators import folded

BAR = 10
EVERY_S = 30.0  # between two lines of progress, without a terminal
COMPARED = 16  # pictures on which the exported and the trained network must agree
CLOSE = 1e-3  # largest difference of probabilities


def show_progress(line: StatusLine, one: TrainingProgress | Epoch) -> None:
    """Show the progress after some steps; each finished epoch keeps a line of its own."""
    if isinstance(one, Epoch):
        line.keep(epoch_line(one))
    else:
        line.show(progress_line(one))


def progress_line(progress: TrainingProgress) -> str:
    """Format the progress: [##--------] epoch 3/10, loss 0.1234, 97.1 % right, 41200 images/s, 1:07 left"""
    bar = "#" * (BAR * progress.step // progress.steps)
    where = f"epoch {progress.epoch}/{progress.epochs}"
    scores = f"loss {progress.loss:.4f}, {100 * progress.accuracy:.1f} % right"
    speed = f"{progress.images_per_s:.0f} images/s, {format_time(progress.left_s)} left"
    return f"[{bar:-<{BAR}}] {where}, {scores}, {speed}"


def epoch_line(epoch: Epoch) -> str:
    """Format a finished epoch: epoch 3: loss 0.1234, 97.1 % right; validation: loss 0.1311, 96.2 % right"""
    line = f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, {100 * epoch.accuracy:.2f} % right"
    if epoch.validation_loss is None or epoch.validation_accuracy is None:
        return line
    return f"{line}; validation: loss {epoch.validation_loss:.4f}, {100 * epoch.validation_accuracy:.2f} % right"


@dataclass(frozen=True)
class TrainingResult:
    """What a training wrote. `verdict`: its result in a sentence; `evaluated_on`: see `EvaluatedImages.what`."""

    verdict: str
    model: Path
    report: Path
    evaluated_on: str
    loss: float
    accuracy: float

    def __str__(self) -> str:
        return f"{self.verdict}\nmodel: {self.model}\nreport: {self.report}"

    def as_object(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {**asdict(self), "model": str(self.model), "report": str(self.report)}


class Work:
    """One training, from the command line to the report.

    Raises ConfigError, DataError, ModelError, DeviceError.
    """

    def __init__(self, arguments: argparse.Namespace, device: Device) -> None:
        training, self._file = load_training(arguments.training)
        start = load_model(config.ModelConfig(path=arguments.start)) if arguments.start else None
        self._training = _with_options(training, arguments.seed, start, self._file)
        self.folder = arguments.output or (training.output and training.output.folder) or Path(training.name)
        hold(f"training-{self.folder.absolute()}")
        self._checkpoints = Checkpoints(self.folder / "checkpoints")
        self._checkpoint = self._begin(resume=arguments.resume)
        learning = self._training.train
        self._input = start.input if start else _input_of(self._training)
        self._source = open_source(self._training, self._input, arguments.data)
        graph = self._graph(start)
        self._facts = facts_of(
            self._training, self._source.fingerprint, start.sha256 if start else None, device.name
        )
        self._trainer = trainer_of(graph, device, learning)
        self._session = TrainingSession(
            self._trainer, self._source, self._input, learning, macs(graph), self._checkpoints, self._facts
        )
        if self._checkpoint:
            self._session.resume(self._checkpoint)

    def train(self) -> TrainingResult:
        """Train, evaluate, and write the model and its report. Raises TrainingError."""
        try:
            self._run_session()
            judged = self._judge()
        finally:
            self._source.close()
        graph = self._trainer.graph()
        self._compare(graph, judged)
        path = self.folder / f"{self._training.name}.onnx"
        outcome = TrainingOutcome(
            self._training.name,
            self._source.labels,
            self._session.history,
            self._session.best,
            judged,
            self._facts,
        )
        try:
            with replace_file(path, FOR_ALL) as file:
                file.write(to_onnx(graph, self._training.name, self._source.labels, self._input))
            verdict = write_report(outcome, self.folder)
        except OSError as error:
            problem = f"{self.folder}: the results cannot be written: {error.strerror}"
            raise TrainingError(f"{problem}; free some space, then write them with --resume") from None
        report = self.folder / "report.md"
        return TrainingResult(verdict, path, report, judged.what, judged.loss, judged.accuracy)

    def _run_session(self) -> None:
        if not self._checkpoint:
            self._checkpoints.clear()
            (self.folder / "metrics.json").unlink(missing_ok=True)
        line = StatusLine(every_s=EVERY_S)
        try:
            for one in self._session.train():
                show_progress(line, one)
        finally:
            line.end()

    def describe_kept(self) -> str:
        """Say how many epochs an interrupted training has kept."""
        if done := len(self._session.history):
            return f"{done} of {self._session.epochs} epochs are saved in {self.folder}"
        return "no epoch is saved yet"

    def _graph(self, start: Model | None) -> Graph:
        seed = self._training.train.seed
        if start:
            return start_from(start, self._source.labels, seed)
        return build(self._training, len(self._source.labels), seed, self._file)

    def _begin(self, *, resume: bool) -> Checkpoint | None:
        """Find the checkpoint to resume from. Raises DataError if one would be lost, or if all are damaged."""
        checkpoint, problems = self._checkpoints.newest()
        if checkpoint and resume:
            for problem in problems:
                warn(f"{problem}; resuming from {checkpoint.path.name}")
            return checkpoint
        if checkpoint and not (self.folder / "metrics.json").exists():
            raise DataError(
                f"{self.folder} has an unfinished training ({checkpoint.path.name}): continue it with --resume, "
                "or give another --output"
            )
        return None

    def _judge(self) -> EvaluatedImages:
        """Evaluate on the test data, else on the validation data, else on the training data."""
        known = {"test": self._source.test, "validation": self._source.validation}
        what, examples = next(((name, one) for name, one in known.items() if one), ("training", None))
        examples = examples or next(iter(self._source.chunks(0, self._training.train.batch))).examples
        found = self._session.evaluate(examples)
        return EvaluatedImages(what, examples, found.probabilities, found.loss, found.accuracy)

    def _compare(self, graph: Graph, judged: EvaluatedImages) -> None:
        """Raises TrainingError if the exported network computes something else than the trained one."""
        first = LabelledImages(judged.examples.images[:COMPARED], judged.examples.labels[:COMPARED])
        x = reference.normalised(first.images, self._input)
        error = float(np.abs(reference.run(folded(graph), x) - judged.probabilities[: len(first)]).max())
        if not error <= CLOSE:
            raise TrainingError(
                f"the trained and the exported network differ by {error:.1e} on the same pictures: "
                "please report this"
            )


def _with_options(training: Training, seed: int | None, start: Model | None, file: Path) -> Training:
    """Apply the seed of the command line. Raises ConfigError if layers or input are missing."""
    if not start:
        missing = [key for key in ("input", "layers") if not getattr(training, key)]
        if missing:
            raise ConfigError(f"{file}:1:1: the key '{missing[0]}' is missing (it is optional only with --from)")
    if seed is None:
        return training
    return training.model_copy(update={"train": training.train.model_copy(update={"seed": seed})})


def _input_of(training: Training) -> Input:
    assert training.input, "checked before"  # noqa: S101
    return training.input.as_input()
