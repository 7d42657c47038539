"""One run of `edged compress`: read the network and the pictures, search or retrain, write the result."""

import argparse
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from edged import config
from edged.cli.given_metadata import described
from edged.cli.model_options import given_keys, model_config
from edged.cli.pictures import judged_pictures
from edged.cli.training_data import open_source
from edged.compress.codebook import Codebook
from edged.compress.coded_file import coded_layer
from edged.compress.judge import Judge, JudgedPictures
from edged.compress.network import Network, written
from edged.compress.report import Compression, write_report
from edged.compress.retraining import RetrainedEpoch, Retraining, judging_examples, slower
from edged.compress.search import Search
from edged.compress.weights import with_weights
from edged.errors import ConfigError, EdgedError
from edged.model.from_onnx.file import read_file
from edged.model.graph import Graph, Softmax
from edged.model.model_file import compress, model_stem
from edged.model.package import Model, model_path
from edged.model.scores import score_rule
from edged.runtime.select import is_numpy, opencl_device
from edged.system.disk_cache import code_sha256
from edged.system.exclusive_lock import hold
from edged.system.files import writing
from edged.system.terminal import StatusLine, note
from edged.train.build import start_from
from edged.train.checkpoint import Checkpoints, facts_of
from edged.train.config import Training, load_training, named_networks
from edged.train.export import to_onnx
from edged.train.source import LabelledImages
from edged.train.trainer import trainer_of

HELD_OUT = 0.1  # of the pictures, by which pruning is judged; scenes that are drawn have their own test
BATCH = 32  # pictures of a job: throughput counts, not latency
EVERY_S = 30.0  # between two lines of progress, without a terminal
RIGHT, SAME = "share of right first classes", "share of the original's first classes"


def _require_softmax(model: Model) -> None:
    """Raise ConfigError for scores whose meaning retraining, by cross-entropy of a softmax, would change."""
    rule = score_rule(model)
    if rule.step != "softmax" and not isinstance(model.graph.operators[-1], Softmax):
        raise ConfigError(
            f"--epochs retrains networks whose scores are a softmax; those of {model.name} are {rule.described}: "
            "leave --epochs out"
        )


class Retrain:
    """One retraining of `model`, whose file is `original`. `pictures`: those that judge the result.

    Raises ConfigError, DataError, ModelError, DeviceError.
    """

    def __init__(
        self, arguments: argparse.Namespace, model: Model, original: onnx.ModelProto, folder: Path
    ) -> None:
        if is_numpy(config.WorkerConfig(device=arguments.device)):
            raise ConfigError("device numpy cannot train: give an OpenCL device, or leave --epochs out")
        _require_softmax(model)
        training = _training_of(arguments, model)
        self._model, self._original, learning = model, original, training.train
        device = opencl_device(arguments.device)
        self._source = open_source(training, model.input, arguments.data)
        self._checkpoints = Checkpoints(folder / "checkpoints")
        self.pictures = _judged(self._source.test or judging_examples(self._source), self._source.fingerprint)
        facts = facts_of(training, self._source.fingerprint, model.sha256, device.name)
        facts |= {"max_loss": str(arguments.max_loss), "code": code_sha256("edged.compress")}
        trainer = trainer_of(start_from(model, model.labels, learning.seed), device, learning)
        self._retraining = Retraining(
            trainer, self._source, model.input, learning, arguments.max_loss / 100, self._checkpoints, facts
        )

    def run(self, line: StatusLine) -> tuple[onnx.ModelProto, onnx.ModelProto, dict[str, Codebook]]:
        """Retrain, from the last checkpoint on; return the pruned and the shared network, and codebooks."""
        checkpoint, _ = self._checkpoints.newest()
        if checkpoint and self._retraining.resume(checkpoint):
            line.keep(f"resuming after epoch {len(self._retraining.history)} of {self._retraining.epochs}")
        else:
            self._checkpoints.clear()
        try:
            self._retraining.run(lambda epoch: line.keep(epoch_line(epoch, self._retraining.epochs)))
        finally:
            self._source.close()
        pruned = self._file(self._retraining.pruned_network())
        shared, codebooks = self._retraining.shared_network()
        return pruned, self._file(shared), codebooks

    def _file(self, graph: Graph) -> onnx.ModelProto:
        """Return the network as a file, with the metadata of the original that `edged train` does not write."""
        model = onnx.ModelProto()
        model.ParseFromString(to_onnx(graph, self._model.name, self._model.labels, self._model.input))
        known = {entry.key for entry in model.metadata_props}
        model.metadata_props.extend(each for each in self._original.metadata_props if each.key not in known)
        return model


def epoch_line(epoch: RetrainedEpoch, epochs: int) -> str:
    """Format a finished epoch: epoch 3 of 8, pruned: 81.2 % of the weights are 0, loss 0.0312, 99.10 % right"""
    zeros = f"{100 * epoch.pruned:.1f} % of the weights are 0"
    figures = f"loss {epoch.loss:.4f}, {100 * epoch.accuracy:.2f} % right"
    return f"epoch {epoch.epoch} of {epochs}, {epoch.step}: {zeros}, {figures}"


def _training_of(arguments: argparse.Namespace, model: Model) -> Training:
    """Return the settings of `--training`, else those of the network of that name, with the model's labels."""
    named = model.name if model.name in named_networks() else None
    source = arguments.training or named
    training = load_training(source)[0] if source else Training(name=model.name)
    is_drawn = training.data is not None and training.data.kind == "drawn"
    learning = slower(training.train, arguments.epochs, 0.0 if is_drawn else HELD_OUT)
    return training.model_copy(update={"train": learning, "labels": model.labels})


def _judged(examples: LabelledImages, fingerprint: str) -> JudgedPictures:
    """Return pictures as a camera would give them: gray ones with equal red, green and blue."""
    images = examples.images
    frames = np.repeat(images, 3, axis=3) if images.shape[3] == 1 else images
    return JudgedPictures(frames, [(int(label),) for label in examples.labels], f"{fingerprint}/test")


@dataclass(frozen=True, eq=False)
class SmallNetwork:
    """The network `pruned` and `shared`, and the codebooks of the latter, by weight."""

    pruned: onnx.ModelProto
    shared: onnx.ModelProto
    codebooks: Mapping[str, Codebook]


class CompressionWork:
    """One compression, from the command line to the report.

    Raises ConfigError, DataError, ImageError, ModelError, DeviceError, TrainingError.
    """

    def __init__(self, arguments: argparse.Namespace, model: Model) -> None:
        compress(b"")  # if zstandard is missing, that is an error before all work
        self._arguments, self._model, self._settings = arguments, model, model_config(arguments)
        path = model_path(self._settings)
        self.folder: Path = arguments.output or Path(f"{model_stem(path)}-compressed")
        self._target = self.folder / f"{model_stem(path)}.onnx"
        file = described(read_file(path), given_keys(arguments), model.labels)
        self._network = Network(file, (model.input.width, model.input.height))
        self._network.weights  # noqa: B018  # a network without weights to compress is an error before all work
        self._prepare_folder(path)
        self._line = StatusLine(every_s=EVERY_S)

    def compress(self) -> Compression:
        """Search or train the smallest network within the limit, write it, and return what was reached.

        After an error there is no empty folder.
        """
        try:
            return self._compressed()
        except EdgedError:
            with contextlib.suppress(OSError):  # it holds something
                self.folder.rmdir()
            raise

    def _compressed(self) -> Compression:
        if self._arguments.epochs:
            retrain = Retrain(self._arguments, self._model, self._network.file.model, self.folder)
            pictures = retrain.pictures
            found = SmallNetwork(*retrain.run(self._line))
            judge = self._judge(pictures)
        else:
            pictures = judged_pictures(self._model, self._arguments)
            judge = self._judge(pictures)
            found = self._search(judge)
        outcome = Compression(
            name=self._model.name,
            device=judge.device_name,
            pictures=len(pictures.frames),
            judged_by=SAME if pictures.classes is None else RIGHT,
            max_loss=self._arguments.max_loss / 100,
            steps=written(
                self._network, found.pruned, found.shared, found.codebooks, judge, self._target, self._settings
            ),
            layers=[coded_layer(*each) for each in found.codebooks.items()],
        )
        with writing(f"{self.folder}: the report"):
            write_report(outcome, self.folder)
        return outcome

    def _judge(self, pictures: JudgedPictures) -> Judge:
        return Judge(self._model, config.WorkerConfig(device=self._arguments.device, batch=BATCH), pictures)

    def _search(self, judge: Judge) -> SmallNetwork:
        def show(text: str) -> None:
            self._line.show(f"edged: {text}")

        search = Search(self._network, judge, self._arguments.max_loss / 100, show)
        try:
            weights = search.prune()
            codebooks = search.share(weights)
        finally:
            self._line.clear()
        if judge.reused:
            note(f"{judge.reused} variations were measured before, by an earlier run")
        model = self._network.file.model
        return SmallNetwork(with_weights(model, weights), model, codebooks)

    def _prepare_folder(self, source: Path) -> None:
        """Make the folder, for this process alone. Raises ConfigError if the source would be replaced."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"--output {self.folder}: cannot be made: {error.strerror}") from None
        if source.resolve().parent == self.folder.resolve():
            raise ConfigError(f"--output {self.folder}: holds the original, {source.name}: give another folder")
        hold(f"compression-{self.folder.absolute()}")
