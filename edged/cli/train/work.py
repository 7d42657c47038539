"""One run of `edged train`: its start, the session with its progress display, and the files that it writes."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import numpy as np

from edged import config
from edged.cli.train.data import open_source
from edged.engine.device import Device
from edged.errors import ConfigError, DataError, TrainingError
from edged.model import reference
from edged.model.cost import macs
from edged.model.graph import Graph
from edged.model.package import Input, Model, load_model
from edged.system.atomic_file import FOR_ALL, replace_file
from edged.system.exclusive_lock import hold
from edged.train.build import build
from edged.train.checkpoint import Checkpoint, Checkpoints, facts_of
from edged.train.config import Training, load_training
from edged.train.export import to_onnx
from edged.train.norm import folded
from edged.train.pretrained import start_from
from edged.train.report import EvaluatedImages, TrainingOutcome, write_report
from edged.train.results import Epoch, TrainingProgress
from edged.train.session import TrainingSession
from edged.train.source import LabelledImages
from edged.train.trainer import trainer_of

BAR = 10
EVERY_S = 30.0  # a line between two epochs, where there is no terminal


class ProgressLines:
    """Shows to `stream` where a training stands; a line of its own stays for each epoch."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream or sys.stderr, clock
        self._is_terminal = self._stream.isatty()
        self._shown_at = clock()
        self._is_open = False

    def show(self, one: TrainingProgress | Epoch) -> None:
        """After some steps, and after each epoch."""
        if isinstance(one, Epoch):
            self._line(epoch_line(one))
        elif self._is_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{progress_line(one)[:width]:{width}}")
            self._is_open = True
        elif self._clock() - self._shown_at >= EVERY_S:
            self._line(progress_line(one))

    def end(self) -> None:
        """Leave the line as it is."""
        if self._is_open:
            self._write("\n")
        self._is_open = False

    def _line(self, text: str) -> None:
        if self._is_open:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r{'':{width}}\r")
        self._write(f"{text}\n")
        self._is_open = False
        self._shown_at = self._clock()

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def progress_line(progress: TrainingProgress) -> str:
    """[##--------] epoch 3/10, loss 0.1234, 97.1 % right, 41200 images/s, 1:07 left"""
    bar = "#" * (BAR * progress.step // progress.steps)
    where = f"epoch {progress.epoch}/{progress.epochs}"
    learnt = f"loss {progress.loss:.4f}, {100 * progress.accuracy:.1f} % right"
    return (
        f"[{bar:-<{BAR}}] {where}, {learnt}, {progress.images_per_s:.0f} images/s, {_clock(progress.left_s)} left"
    )


def epoch_line(epoch: Epoch) -> str:
    """epoch 3: loss 0.1234, 97.1 % right; held out: loss 0.1311, 96.2 % right"""
    line = f"epoch {epoch.epoch}: loss {epoch.loss:.4f}, {100 * epoch.accuracy:.2f} % right"
    if epoch.validation_loss is None or epoch.validation_accuracy is None:
        return line
    return f"{line}; held out: loss {epoch.validation_loss:.4f}, {100 * epoch.validation_accuracy:.2f} % right"


def _clock(seconds: float) -> str:
    """1:07, or 2:01:07."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


COMPARED = 16  # pictures on which the exported network must say what the trained one says
CLOSE = 1e-3  # as shares


class Work:
    """From the command line to the report. Raises ConfigError, DataError, ModelError, DeviceError."""

    def __init__(self, arguments: argparse.Namespace, device: Device) -> None:
        training, self._file = load_training(arguments.training)
        start = load_model(config.Model(path=arguments.start)) if arguments.start else None
        self._training = _as_asked(training, arguments.seed, start, self._file)
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

    def go(self) -> str:
        """Train and write everything; a line on how it went. Raises TrainingError."""
        try:
            self._train()
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
            raise TrainingError(f"{problem}; make room, then write them with --resume") from None
        return f"{verdict}\nmodel: {path}\nreport: {self.folder / 'report.md'}"

    def _train(self) -> None:
        if not self._checkpoint:
            self._checkpoints.clear()
            (self.folder / "metrics.json").unlink(missing_ok=True)
        lines = ProgressLines()
        try:
            for one in self._session.train():
                lines.show(one)
        finally:
            lines.end()

    def what_is_kept(self) -> str:
        """For who has stopped it."""
        if done := len(self._session.history):
            return f"{done} of {self._session.epochs} epochs are kept in {self.folder}"
        return "no epoch is kept yet"

    def _graph(self, start: Model | None) -> Graph:
        seed = self._training.train.seed
        if start:
            return start_from(start, self._source.labels, seed)
        return build(self._training, len(self._source.labels), seed, self._file)

    def _begin(self, *, resume: bool) -> Checkpoint | None:
        """Where to go on. Raises DataError where a checkpoint would be lost, or all are damaged."""
        checkpoint, problems = self._checkpoints.newest()
        if checkpoint and resume:
            for problem in problems:
                print(f"edged: warning: {problem}; going on from {checkpoint.path.name}", file=sys.stderr)
            return checkpoint
        if checkpoint and not (self.folder / "metrics.json").exists():
            raise DataError(
                f"{self.folder}: a training is under way here ({checkpoint.path.name}): go on with --resume, "
                "or give another --output"
            )
        return None

    def _judge(self) -> EvaluatedImages:
        """By the test, else by what was held out, else by what was learnt from."""
        known = {"test": self._source.test, "held out": self._source.validation}
        what, examples = next(((name, one) for name, one in known.items() if one), ("learnt from", None))
        examples = examples or next(iter(self._source.chunks(0, self._training.train.batch))).examples
        found = self._session.evaluate(examples)
        return EvaluatedImages(what, examples, found.probabilities, found.loss, found.accuracy)

    def _compare(self, graph: Graph, judged: EvaluatedImages) -> None:
        """Raises TrainingError where the exported network would answer otherwise than the trained one."""
        first = LabelledImages(judged.examples.images[:COMPARED], judged.examples.labels[:COMPARED])
        x = reference.normalised(first.images, self._input)
        error = float(np.abs(reference.run(folded(graph), x) - judged.probabilities[: len(first)]).max())
        if not error <= CLOSE:
            raise TrainingError(
                f"the trained network and the one to be written differ by {error:.1e} on the same pictures: "
                "please report this"
            )


def _as_asked(training: Training, seed: int | None, start: Model | None, file: Path) -> Training:
    """With the seed of the command line. Raises ConfigError where layers or input are missing."""
    if not start:
        missing = [key for key in ("input", "layers") if not getattr(training, key)]
        if missing:
            raise ConfigError(f"{file}:1:1: the key '{missing[0]}' is missing (only --from goes without)")
    if seed is None:
        return training
    return training.model_copy(update={"train": training.train.model_copy(update={"seed": seed})})


def _input_of(training: Training) -> Input:
    assert training.input, "checked before"  # noqa: S101
    return training.input.as_input()
